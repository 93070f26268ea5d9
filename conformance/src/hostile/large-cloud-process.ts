/**
 * A cloud that serves a machine honestly, but whose answers are as large as they may be: configurations that change with every request, and
 * other answers, padded. Over the machine's link it sends large commands. Each answer is encoded once, so that this process leaves the
 * processors to the machine.
 *
 * large-cloud-process.ts; each line of standard input is answered with what happened since the last one. A line with `serve` first changes
 * the configuration, to one of `large-documents.ts`; with `isPadded` it changes whether other answers are large.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, type DescMessage, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { PlatformError, silentLog } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import {
  DataCaptureUploadRequestSchema,
  DataCaptureUploadResponseSchema,
  DataSyncService,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import {
  CertificateResponseSchema,
  ConfigResponseSchema,
  LogResponseSchema,
  NeedsRestartResponseSchema,
  RobotService,
} from '@platform/proto/platform/app/v1/robot';
import { GenericService } from '@platform/proto/platform/component/generic/v1/generic';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { ReportPartStatusResponseSchema } from '@platform/proto/platform/fleet/v1/part_report';
import { RelayService } from '@platform/proto/platform/relay/v1/relay';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { byteStreamOver, connectOver } from '@platform/rpc/client';
import { createRpcServer, serve } from '@platform/rpc/server';
import { partId } from '../../../apps/machine-server/src/testing/fake-cloud.ts';
import { type LargeDocument, largeDocuments } from './large-documents.ts';

export interface LargeCloudReport {
  readonly configs: number;
  readonly uploads: number;
  readonly logs: number;
  readonly commands: number;
  /** When the readings of `ticker` that have arrived were taken, ms. */
  readonly ticks: readonly number[];
}

const versions = 3;
/** Of a field that no message has. */
const unknownNumber = 1_000;
const longText = new Uint8Array(30 * 1024 * 1024).fill(97);
/** Fields and elements of a message that a machine decodes. */
const unknownFields = 190_000;
/** Of a command: a request may have half of that, five for each key. */
const commandKeys = 19_000;

const newReport = () => ({ configs: 0, uploads: 0, logs: 0, commands: 0, ticks: [] as number[] });
let report = newReport();
let isPadded = false;
let answers: readonly MessageShape<typeof ConfigResponseSchema>[] = [];

/** The message with its only field, or all of its first one, encoded only once. */
function encodedOnce<D extends DescMessage>(schema: D, init: MessageInitShape<D>): MessageShape<D> {
  const bytes = toBinary(schema, create(schema, init));
  const answer = create(schema);
  answer.$unknown = [{ no: 1, wireType: WireType.LengthDelimited, data: bytes.subarray(1) }];
  return answer;
}

function encode({ document }: LargeDocument): typeof answers {
  return Array.from({ length: versions }, (_, version) => {
    const config = toRobotConfig(parse(document(version)).config, { id: partId, primaryOrgId: 'org' });
    return encodedOnce(ConfigResponseSchema, { config });
  });
}

/** By turns with one long field, and with many short ones, which the machine does not know. */
function padded<D extends DescMessage>(schema: D, init: MessageInitShape<D>, turn: number): MessageShape<D> {
  const answer = create(schema, init);
  if (isPadded)
    answer.$unknown =
      turn % 2 === 0
        ? [{ no: unknownNumber, wireType: WireType.LengthDelimited, data: longField }]
        : Array.from({ length: unknownFields }, () => ({
            no: unknownNumber,
            wireType: WireType.Varint,
            data: Uint8Array.of(1),
          }));
  return answer;
}
const longField = new BinaryWriter().bytes(longText).finish();

let turn = 0;
const robot = serve<typeof RobotService, string>(RobotService, {
  config: () => answers[report.configs++ % answers.length] ?? {},
  log({ logs }) {
    report.logs += logs.length;
    return padded(LogResponseSchema, {}, turn++);
  },
  certificate: ({ id }) => padded(CertificateResponseSchema, { id, tlsCertificate: 'none', tlsPrivateKey: '' }, turn++),
  needsRestart: () =>
    padded(NeedsRestartResponseSchema, { mustRestart: false, restartCheckInterval: { seconds: 1n } }, turn++),
});
const sync = serve<typeof DataSyncService, string>(DataSyncService, {
  dataCaptureUpload(request) {
    report.uploads++;
    const { metadata, sensorContents } = create(DataCaptureUploadRequestSchema, request);
    if (metadata?.componentName === 'ticker')
      for (const { metadata: times } of sensorContents)
        report.ticks.push(times?.timeRequested === undefined ? Number.NaN : timestampMs(times.timeRequested));
    return padded(DataCaptureUploadResponseSchema, { fileId: 'file' }, turn++);
  },
});
const fleet = serve<typeof FleetService, string>(FleetService, {
  reportPartStatus: () => padded(ReportPartStatusResponseSchema, {}, turn++),
});
const relay = serve<typeof RelayService, string>(RelayService, {
  async *openLink(requests) {
    async function* incoming(): AsyncGenerator<Uint8Array, void> {
      for await (const { data } of requests) {
        if (data.length > 0) yield data;
        // Heartbeats are answered.
        else beat();
      }
    }
    yield { data: new Uint8Array() };
    const { duplex, outgoing, beat } = byteStreamOver(incoming());
    // The machine may end it.
    duplex.on('error', () => {});
    await using link = connectOver({ stream: duplex, peerName: 'the machine', userAgent: 'test' });
    void command(link.client(GenericService)).catch(() => {});
    for await (const data of outgoing) yield { data };
  },
});
const largeCommand = Object.fromEntries(Array.from({ length: commandKeys }, (_, at) => [at.toString(36), at]));

/** Calls until the link is over. */
async function command({ doCommand }: { doCommand: (request: object) => Promise<unknown> }): Promise<never> {
  for (;;) {
    await sleep(500);
    if (!isPadded) continue;
    await doCommand({ name: 'generic', command: largeCommand });
    report.commands++;
  }
}

const auth = serve<typeof AuthService, string>(AuthService, { authenticate: () => ({ accessToken: 'token' }) });
const server = createRpcServer<string>({
  services: [robot, sync, fleet, relay, auth],
  async authenticate(call) {
    if (call.metadata.get('authorization') !== 'Bearer token') throw new PlatformError('unauthenticated', 'no token');
    return 'part';
  },
  open: ['/proto.rpc.v1.AuthService/Authenticate'],
  fallback: (_request, response) => void response.end(),
  log: silentLog,
});

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const asked = JSON.parse(line) as { readonly serve?: string; readonly isPadded?: boolean };
    const found = largeDocuments.find(({ name }) => name === asked.serve);
    if (found !== undefined) answers = encode(found);
    isPadded = asked.isPadded ?? isPadded;
    process.stdout.write(`${JSON.stringify(report)}\n`);
    report = newReport();
  })
  .on('close', () => process.exit());
const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ port })}\n`);
