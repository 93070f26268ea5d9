/**
 * Binary data with real stores, for tests: uploads take the usual path, and operations are called as over the wire. The account tree is
 * that of access/testing/open-fleet.ts.
 */
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, silentLog, systemClock } from '@platform/base';
import { type AnnotationsSchema, DataService } from '@platform/proto/platform/app/data/v1/data';
import { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import { DataType, SensorDataSchema, UploadMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { temporaryDirectory } from '@platform/testkit';
import { onTestFinished } from 'vitest';
import { grantsOf, type Principal } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { fleetAccess, locations, machines, on } from '../../access/testing/open-fleet.ts';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import { type BlobStore, openBlobStore } from '../../blobs/blob-store.ts';
import { type AcceptDeps, acceptUpload } from '../../ingest/accept-upload.ts';
import { createBackpressure } from '../../ingest/backpressure/backpressure.ts';
import type { IngestLog } from '../../ingest/log/log.ts';
import { defaultIngestSettings } from '../../ingest/settings.ts';
import { neverBehind } from '../../ingest/testing/never-behind.ts';
import { openTestLog } from '../../ingest/testing/open-log.ts';
import { checkMetadata } from '../../ingest/upload-metadata.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { RowWatch } from '../../metadata/row-checks/row-watch.ts';
import type { Database } from '../../metadata/tables.ts';
import { ReadingRanges } from '../../reading-codec/reading-ranges.ts';
import { type Binary, createBinary } from '../feature.ts';

export interface UploadShape {
  /** Default: the machine press, in the location hall of the organization acme. */
  readonly machine?: string;
  readonly content?: string | Uint8Array;
  readonly metadata?: MessageInitShape<typeof UploadMetadataSchema>;
  /** Time of the request; received 5 ms later. Default: none, so that the time of the upload is used. */
  readonly atMs?: number;
  readonly annotations?: MessageInitShape<typeof AnnotationsSchema>;
}

export interface OpenBinary {
  readonly db: Database;
  readonly rows: RowWatch;
  /** Runs a statement on the metadata without the cloud's knowledge. */
  alterRows(statement: string): Promise<void>;
  readonly log: IngestLog;
  /** Changes the tables of the log without its knowledge, and opens it again. Its listeners are removed. */
  damageLog(statement: string): Promise<void>;
  readonly blobs: BlobStore;
  readonly blobDirectory: string;
  readonly binary: Binary;
  readonly instanceKey: InstanceKey;
  /** Principals by the id of their key, as creators of signed addresses. */
  readonly standing: Map<string, Principal>;
  /** Returns the file's id. */
  upload(shape?: UploadShape): Promise<string>;
  ask<M extends DescMethodUnary>(
    principal: Principal,
    method: M,
    request: MessageInitShape<M['input']>,
  ): Promise<MessageShape<M['output']>>;
  /** Ids in the table, sorted. */
  ids(): Promise<readonly string[]>;
}

export const data: typeof DataService.method = DataService.method;
export const dataset: typeof DatasetService.method = DatasetService.method;

/** Keys with one role each on acme and umbrella. */
export const callers = {
  owner: keyOf('owner', on.organization('owner')),
  operator: keyOf('operator', on.organization('operator')),
  plantOwner: keyOf('plant-owner', on.location('owner', 'plant')),
  hallOperator: keyOf('hall-operator', on.location('operator', 'hall')),
  pressOwner: keyOf('press-owner', on.machine('owner', 'press')),
  millOperator: keyOf('mill-operator', on.machine('operator', 'mill')),
  stranger: keyOf('stranger', on.organization('owner', 'umbrella')),
  part: { kind: 'part', partId: 'press-main' } as Principal,
} satisfies Record<string, Principal>;

type Key = Extract<Principal, { kind: 'key' }>;

function keyOf(keyId: string, ...grants: Key['grants']): Key {
  return { kind: 'key', keyId, grants };
}

export async function openBinary({ clock = systemClock }: { readonly clock?: Clock } = {}): Promise<OpenBinary> {
  const { db, rows, alterRows, instanceKey } = await openFirstAccount();
  const opened = await openTestLog(clock);
  const directory = await temporaryDirectory();
  const blobs = await openBlobStore({ directory: directory.file('blobs'), clock });
  const standing = new Map<string, Principal>();
  const binary = createBinary({
    db,
    rows,
    ingestLog: opened.log,
    blobs,
    organizationOf: (partId) => locations[machines[partId.replace(/-main$/, '')] ?? '']?.organizationId,
    access: fleetAccess(),
    instanceKey,
    standing: async ({ id }) => standing.get(id),
    principalOf: async (request) => standing.get(String(request.headers['x-who'])) ?? callers.part,
    baseUrl: () => 'http://cloud.test',
    onSent: () => {},
    clock,
    log: silentLog,
  });
  await binary.start();
  const backpressure = createBackpressure({
    ...{ store: neverBehind(opened.log), settings: defaultIngestSettings, clock, log: silentLog },
  });
  onTestFinished(async () => {
    await binary[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });
  return {
    db,
    rows,
    alterRows,
    log: opened.log,
    damageLog: (statement) => opened.damage(statement),
    blobs,
    blobDirectory: directory.file('blobs'),
    binary,
    instanceKey,
    standing,
    upload: (shape) =>
      upload(
        {
          ...{ ingestLog: opened.log, blobs, clock, reportGap: () => {}, countStored: () => {}, backpressure },
          findDeleted: async ({ first }) => [await binary.isDeleted(first.fileId, first.position)],
        },
        shape,
      ),
    ask: (principal, method, request) => ask(binary, principal, method, request),
    async ids() {
      return (await db.selectFrom('binary_data').select('id').execute()).map(({ id }) => id).toSorted();
    },
  };
}

async function upload(
  deps: AcceptDeps,
  { machine = 'press', content = 'a picture', metadata = {}, atMs, annotations }: UploadShape = {},
): Promise<string> {
  const locationId = machines[machine] ?? 'hall';
  const organizationId = locations[locationId]?.organizationId ?? 'acme';
  const place = {
    organizationId,
    locationId,
    robotId: machine,
    partId: `${machine}-main`,
    organizationName: organizationId,
    locationName: locationId,
    robotName: `${machine} machine`,
    partName: 'main',
  };
  const given = create(UploadMetadataSchema, {
    partId: place.partId,
    componentType: 'core:component:camera',
    componentName: 'cam',
    methodName: 'GetImages',
    type: DataType.BINARY_SENSOR,
    ...(metadata as object),
  });
  const checked = checkMetadata(given, [DataType.BINARY_SENSOR, DataType.FILE], DataType.FILE, 'Upload');
  const times =
    atMs === undefined ? {} : { timeRequested: timestampFromMs(atMs), timeReceived: timestampFromMs(atMs + 5) };
  const reading = toBinary(
    SensorDataSchema,
    create(SensorDataSchema, { metadata: { ...times, ...(annotations && { annotations: annotations as object }) } }),
  );
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const { fileId } = await acceptUpload(
    deps,
    place,
    checked,
    { readings: ReadingRanges.of(given.type === DataType.FILE ? [] : [reading]), refused: [] },
    { chunks: [bytes], timeReceivedMs: atMs ?? null },
    { signal: new AbortController().signal, deadline: undefined },
  );
  return fileId;
}

async function ask<M extends DescMethodUnary>(
  { dataHandlers, datasetHandlers }: Binary,
  principal: Principal,
  method: M,
  request: MessageInitShape<M['input']>,
): Promise<MessageShape<M['output']>> {
  const all: Readonly<Record<string, unknown>> =
    method.parent.typeName === DatasetService.typeName ? { ...datasetHandlers } : { ...dataHandlers };
  const handler = all[method.localName];
  if (typeof handler !== 'function') throw new Error(`${method.name} has no handler`);
  // Copied, so that a handler never sees changes that another call makes to the grants.
  const caller = principal.kind === 'part' ? principal : { ...principal, grants: [...grantsOf(principal)] };
  const answer = await handler(create(method.input, request), callOf(caller));
  return create(method.output, answer) as MessageShape<M['output']>;
}
