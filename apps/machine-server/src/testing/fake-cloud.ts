/** A cloud for tests: the real RPC server, with an in-memory ingest that follows I5 and I6 and can misbehave on request. */
import { createHash } from 'node:crypto';
import { create, fromBinary, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { PlatformError, silentLog } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import {
  type DataCaptureUploadMetadata,
  DataCaptureUploadRequestSchema,
  DataSyncService,
  type SensorData,
  SensorDataSchema,
  type UploadMetadata,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { PackageService } from '@platform/proto/platform/app/packages/v1/packages';
import { RobotConfigSchema, RobotService } from '@platform/proto/platform/app/v1/robot';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import type { ReportPartStatusRequest } from '@platform/proto/platform/fleet/v1/part_report';
import { type Gap, GapService } from '@platform/proto/platform/gaps/v1/gaps';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { checksumHeader } from '@platform/rpc/client';
import { type Call, createRpcServer, type ServiceBinding, serve } from '@platform/rpc/server';

export interface StoredUpload {
  readonly metadata: UploadMetadata;
  readonly readings: readonly SensorData[];
}

export interface FakeCloud extends AsyncDisposable {
  readonly url: string;
  document: unknown;
  /** Of the machine, in its configuration (D39). */
  names: { readonly fqdn: string; readonly localFqdn: string };
  /** Uploads in order of commit, each once. */
  readonly stored: StoredUpload[];
  readonly files: Map<string, Uint8Array>;
  /** What each kind of upload said about the checksums of its messages. */
  readonly checksums: Map<string, string | null>;
  readonly logs: string[];
  /** Handles every `Log`. */
  logError: PlatformError | undefined;
  /** By id, as last reported. */
  readonly gaps: Map<string, Gap>;
  /** Every reported low-water mark, with its stream. */
  readonly lowWaterMarks: { stream: string; floor: number }[];
  /** Breaches of I5 and I6. */
  readonly breaches: string[];
  attempts: number;
  /** Runs before the commit of an upload; may throw. */
  before: (metadata: UploadMetadata, readings: readonly SensorData[]) => void | Promise<void>;
  /** Runs after the commit, before the answer; may throw: the acknowledgement is lost. */
  after: (metadata: UploadMetadata) => void | Promise<void>;
  configError: PlatformError | undefined;
  /** The next answers contain a configuration that is not a valid message. */
  isGarbled: boolean;
  /** What the server reported about itself, in order; undefined if this cloud lacks the service. */
  reports: ReportPartStatusRequest[] | undefined;
  reportAttempts: number;
  /** Archives by `<id> <version>`; machines download them with their credentials. */
  readonly packages: Map<string, Uint8Array>;
  packageRequests: number;
  /** Replaces the checksum of every package. */
  packageChecksum: string;
  /** The revision that an owner forces once it waits. */
  forcedRevision: string;
  /** Issues a certificate; may throw. */
  certificate: () => { readonly cert: string; readonly key: string };
  certificateRequests: number;
  /** `readings` of every stored reading, in order of commit. */
  readings(): JsonObject[];
  stop(): Promise<void>;
}

export const partId = '11111111-2222-4333-8444-555555555555';

/** @param more services that it also serves */
export async function startFakeCloud(
  document: unknown,
  port = 0,
  more: readonly ServiceBinding<string>[] = [],
): Promise<FakeCloud> {
  const seen = new Map<string, string>();
  const marks = new Map<string, number>();
  const cloud: Omit<FakeCloud, 'url' | 'stop' | typeof Symbol.asyncDispose> = {
    document,
    names: { fqdn: '', localFqdn: '' },
    stored: [],
    files: new Map(),
    checksums: new Map(),
    logs: [],
    logError: undefined,
    gaps: new Map(),
    lowWaterMarks: [],
    breaches: [],
    attempts: 0,
    before: () => {},
    after: () => {},
    configError: undefined,
    isGarbled: false,
    reports: [],
    reportAttempts: 0,
    forcedRevision: '',
    certificate: () => {
      throw new PlatformError('unavailable', 'no certificate');
    },
    certificateRequests: 0,
    packages: new Map(),
    packageRequests: 0,
    packageChecksum: '',
    readings: () =>
      cloud.stored.flatMap(({ readings }) =>
        readings.map(({ data }) => (data.case === 'struct' ? (data.value['readings'] as JsonObject) : {})),
      ),
  };
  const commit = async (
    metadata: UploadMetadata | undefined,
    sensorContents: readonly SensorData[],
  ): Promise<{ fileId: string }> => {
    cloud.attempts++;
    if (metadata?.identity === undefined) throw new PlatformError('invalid_argument', 'expected an identity');
    await cloud.before(metadata, sensorContents);
    const stream = Buffer.from(metadata.identity.stream).toString('hex');
    const [seq, floor] = [Number(metadata.identity.seq), Number(metadata.identity.floor)];
    cloud.lowWaterMarks.push({ stream, floor });
    const key = `${stream} ${seq}`;
    const sum = createHash('sha256');
    for (const reading of sensorContents) sum.update(JSON.stringify(reading.data.value));
    const sha = sum.digest('hex');
    if (seq < (marks.get(stream) ?? 0)) {
      // Below the low-water mark: allowed only for stored uploads.
      if (!seen.has(key))
        cloud.breaches.push(`${key} was below the low-water mark ${marks.get(stream)} and never stored`);
    } else if (seen.has(key)) {
      if (seen.get(key) !== sha) cloud.breaches.push(`${key} came twice with different content`);
    } else {
      seen.set(key, sha);
      cloud.stored.push({ metadata, readings: sensorContents });
    }
    marks.set(stream, Math.max(marks.get(stream) ?? 0, floor));
    await cloud.after(metadata);
    return { fileId: key };
  };
  const noteChecksums = ({ method, metadata }: Pick<Call<string>, 'method' | 'metadata'>): void =>
    void cloud.checksums.set(method.replace(/^.*\//, ''), metadata.get(checksumHeader));
  const dataSync = serve<typeof DataSyncService, string>(DataSyncService, {
    dataCaptureUpload(request, call) {
      noteChecksums(call);
      const { metadata, sensorContents } = fromBinary(
        DataCaptureUploadRequestSchema,
        toBinary(DataCaptureUploadRequestSchema, request),
      );
      return commit(metadata, sensorContents);
    },
    async streamingDataCaptureUpload(requests, call) {
      noteChecksums(call);
      let given: DataCaptureUploadMetadata | undefined;
      const chunks: Uint8Array[] = [];
      for await (const { uploadPacket } of requests) {
        if (uploadPacket.case === 'metadata') given = uploadPacket.value;
        if (uploadPacket.case === 'data') chunks.push(uploadPacket.value);
      }
      const data = { case: 'binary', value: Buffer.concat(chunks) } as const;
      const metadata = given?.sensorMetadata;
      return commit(given?.uploadMetadata, [create(SensorDataSchema, { ...(metadata && { metadata }), data })]);
    },
    async fileUpload(requests, call) {
      noteChecksums(call);
      let name = '';
      const chunks: Uint8Array[] = [];
      for await (const { uploadPacket } of requests) {
        if (uploadPacket.case === 'metadata') name = uploadPacket.value.fileName;
        if (uploadPacket.case === 'fileContents') chunks.push(uploadPacket.value.data);
      }
      cloud.files.set(name, Buffer.concat(chunks));
      return { binaryDataId: name };
    },
  });
  const robot = serve<typeof RobotService, string>(RobotService, {
    config: () => {
      if (cloud.configError !== undefined) throw cloud.configError;
      const config = toRobotConfig(parse(cloud.document).config, {
        ...{ id: partId, primaryOrgId: 'org' },
        ...cloud.names,
      });
      // A one-byte text that is not UTF-8.
      const data = Uint8Array.of(1, 0xff);
      if (cloud.isGarbled) config.$unknown = [{ no: RobotConfigSchema.field.revision.number, wireType: 2, data }];
      return { config };
    },
    log: ({ logs }) => {
      if (cloud.logError !== undefined) throw cloud.logError;
      cloud.logs.push(...logs.map(({ message }) => message));
      return {};
    },
    certificate: ({ id }) => {
      cloud.certificateRequests++;
      const { cert, key } = cloud.certificate();
      return { id, tlsCertificate: cert, tlsPrivateKey: key };
    },
    needsRestart: () => ({ mustRestart: false }),
  });
  const gaps = serve<typeof GapService, string>(GapService, {
    reportGaps(request) {
      for (const gap of request.gaps) cloud.gaps.set(gap.id, gap);
      return {};
    },
  });
  const fleet = serve<typeof FleetService, string>(FleetService, {
    reportPartStatus: (report) => {
      cloud.reportAttempts++;
      if (cloud.reports === undefined) throw new PlatformError('unimplemented', 'no such service');
      cloud.reports.push(report);
      return { forcedRevision: report.heldRevision === cloud.forcedRevision ? cloud.forcedRevision : '' };
    },
  });
  const packages = serve<typeof PackageService, string>(PackageService, {
    getPackage({ id, version }) {
      cloud.packageRequests++;
      const archive = cloud.packages.get(`${id} ${version}`);
      if (archive === undefined) throw new PlatformError('not_found', `no package ${id} ${version}`);
      const checksum = cloud.packageChecksum || createHash('sha256').update(archive).digest('hex');
      return { package: { url: `${base}/packages/${encodeURIComponent(`${id} ${version}`)}?signature=s`, checksum } };
    },
  });
  let base = '';
  const auth = serve<typeof AuthService, string>(AuthService, {
    authenticate: ({ credentials }) => {
      if (credentials?.payload !== 'secret') throw new PlatformError('unauthenticated', 'wrong secret');
      return { accessToken: 'token' };
    },
  });
  const server = createRpcServer<string>({
    services: [dataSync, gaps, robot, fleet, packages, auth, ...more],
    authenticate: async (call) => {
      if (call.metadata.get('authorization') !== 'Bearer token') throw new PlatformError('unauthenticated', 'no token');
      return 'part';
    },
    open: ['/proto.rpc.v1.AuthService/Authenticate'],
    fallback: ({ url = '', headers }, response) => {
      const [, name = ''] = /^\/packages\/([^?]*)/.exec(url) ?? [];
      const archive = cloud.packages.get(decodeURIComponent(name));
      const isAllowed = headers['part_id'] === partId && headers['secret'] === 'secret';
      response.statusCode = archive === undefined ? 404 : isAllowed ? 200 : 401;
      response.end(isAllowed && archive !== undefined ? archive : '');
    },
    log: silentLog,
  });
  const address = await server.listen({ host: '127.0.0.1', port });
  base = `http://127.0.0.1:${address.port}`;
  const stop = (): Promise<void> => server.close({ graceMs: 0 });
  return Object.assign(cloud, { url: base, stop, [Symbol.asyncDispose]: stop });
}
