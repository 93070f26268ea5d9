/**
 * Opens a tabular store with a real log file, real metadata and a real child, for tests. The log is written here row by row into a file,
 * whatever database holds the metadata.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { create, type JsonObject, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { createLog, type Log, systemClock } from '@platform/base';
import {
  DataType,
  SensorDataSchema,
  type UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { LoggedUploadSchema, type PlaceSchema } from '@platform/proto/platform/ingest/v1/log';
import { BsonDate, BsonDocument, type BsonValue, documentsOf, encodeBson, type Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { program } from '../../../../../tools/bundles/program.ts';
import type { IngestLog } from '../../ingest/log/log.ts';
import { LogMaintenance } from '../../ingest/log/log-maintenance.ts';
import { LogReader } from '../../ingest/log/log-reader.ts';
import { ingestMigrations } from '../../ingest/log/log-tables.ts';
import { KnownLosses } from '../../ingest/losses/known-losses.ts';
import { rowChecksums } from '../../ingest/losses/row-checksums.ts';
import { migrations } from '../../metadata/migrations.ts';
import { openMetadata } from '../../metadata/open-metadata.ts';
import { migrate } from '../../metadata/sqlite/migrate.ts';
import type { Database } from '../../metadata/tables.ts';
import { openTestStore } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { createTabular, type TabularDeps } from '../feature.ts';
import type { TabularSettings } from '../settings.ts';
import type { QueryRequest, QueryResult, Tabular } from '../tabular.ts';
import { standaloneTabular } from './standalone-tabular.ts';

export interface TestReading {
  /** JSON, or the bytes of a Struct. */
  readonly data: JsonObject | Uint8Array;
  /** Milliseconds; null: absent. Default: when this file was loaded. */
  readonly receivedMs?: number | null;
  readonly requestedMs?: number | null;
}

export interface TestUpload {
  readonly place?: MessageInitShape<typeof PlaceSchema>;
  readonly metadata?: MessageInitShape<typeof UploadMetadataSchema>;
  readonly readings: readonly TestReading[];
  readonly syncedMs?: number;
}

export interface OpenTabular extends AsyncDisposable {
  readonly tabular: Tabular;
  readonly db: Database;
  readonly dataDir: string;
  readonly damaged: Map<number, string>;
  readonly lines: { level: string; message: string; fields: unknown }[];
  /** Appends one upload; returns its position. */
  append(upload: TestUpload, partId?: string): number;
  /** Appends bytes unchanged. */
  appendRaw(batch: Uint8Array, partId?: string): number;
  readonly ingestLog: Pick<IngestLog, 'losses' | 'recordLoss' | 'acceptLosses' | 'restoreRow' | 'endLosses' | 'read'>;
  /** Replaces the last upload without the store's knowledge. */
  replaceLast(upload: TestUpload): void;
  /** Runs a pipeline; returns the store's answer. */
  ask(stages: readonly Record<string, unknown>[], request?: Partial<Omit<QueryRequest, 'plan'>>): Promise<QueryResult>;
  /** Runs a pipeline; returns its rows. */
  mql(
    stages: readonly Record<string, unknown>[],
    request?: Partial<Omit<QueryRequest, 'plan'>>,
    source?: 'readings' | 'hot',
  ): Promise<Record<string, unknown>[]>;
  count(): Promise<number>;
}

/** One time for everything a test file appends, so that no UTC midnight falls between two uploads. */
const loadedMs = Date.now();

export const testPlace = { organizationId: 'org-1', locationId: 'loc-1', robotId: 'robot-1', partId: 'part-1' };
export const wholeOrganization = { organizationId: 'org-1', locationIds: null, robotIds: null };

export async function openTabular(
  settings: Partial<TabularSettings> = {},
  {
    folder,
    ...options
  }: Partial<Pick<TabularDeps, 'standingRulesOf' | 'organizationOf' | 'monthlyScanBytesOf' | 'clock'>> & {
    /** Folder of a store with its metadata in SQLite; it is kept afterwards. Default: a new folder, which is removed. */
    readonly folder?: string;
  } = {},
): Promise<OpenTabular> {
  const store = folder === undefined ? await openTestStore(undefined, migrations) : undefined;
  const dataDir = folder ?? store?.directory.path ?? '';
  const lines: OpenTabular['lines'] = [];
  const log: Log = createLog((level, _logger, message, fields) => void lines.push({ level, message, fields }));
  const metadata = await openMetadata({
    clock: systemClock,
    onFatal: throwUncaught,
    file: join(dataDir, 'meta.sqlite'),
    database: store?.database,
    migrations,
    log,
  });
  const file = new DatabaseSync(join(dataDir, 'ingest.sqlite'));
  file.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  migrate(file, ingestMigrations, 'ingest.sqlite');
  const insert = file.prepare(
    'INSERT INTO log (position, part, stream, seq, sha256, batch, head_checksum, batch_checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const reader = new LogReader(join(dataDir, 'ingest.sqlite'));
  const known = new KnownLosses([]);
  const listeners = new Set<(position: number) => void>();
  const damaged = new Map<number, string>();
  let last = Number(file.prepare('SELECT coalesce(max(position), 0) AS last FROM log').get()?.['last']);
  const tabular = createTabular({
    ...standaloneTabular(),
    childProgram: pathToFileURL(program('tabular')),
    dataDir,
    db: metadata.db,
    ingestLog: {
      lastPosition: () => last,
      onCommit(listener) {
        listeners.add(listener);
        return { [Symbol.dispose]: () => void listeners.delete(listener) };
      },
      async markDamaged(position, reason) {
        damaged.set(position, reason);
      },
      follow: async (after, limit) => reader.follow(after, limit),
      losses: () => known.list(),
      async recordLoss(lossIn, damage) {
        known.add(lossIn, damage, 0);
      },
    },
    log,
    clock: systemClock,
    settings,
    ...options,
  });
  await tabular.start();

  const write = (position: number, batch: Uint8Array, partId: string): void => {
    const row = { position, partId, stream: Uint8Array.of(0), seq: 0, sha256: Uint8Array.of(0), batch };
    const { head, batch: whole } = rowChecksums(row);
    insert.run(row.position, row.partId, row.stream, row.seq, row.sha256, batch, head, whole);
  };
  const appendRaw = (batch: Uint8Array, partId = 'part-1'): number => {
    write(++last, batch, partId);
    for (const listener of listeners) listener(last);
    return last;
  };
  const planOf = (stages: readonly Record<string, unknown>[], source: 'readings' | 'hot' = 'readings'): Plan =>
    parseMql(
      stages.map((stage) => encodeBson(bson(stage) as BsonDocument)),
      source,
    );
  const mql: OpenTabular['mql'] = async (stages, request = {}, source = 'readings') => {
    const plan = planOf(stages, source);
    const result = await tabular.query({ plan, scope: wholeOrganization, vocabulary: 'core', ...request });
    return [...documentsOf(result)].map((row) => plain(row) as Record<string, unknown>);
  };
  return {
    tabular,
    db: metadata.db,
    dataDir,
    damaged,
    lines,
    appendRaw,
    ingestLog: {
      losses: () => known.list(),
      async recordLoss(lossIn, damage) {
        known.add(lossIn, damage, 0);
      },
      async acceptLosses() {
        known.accept(1);
        return known.list().length;
      },
      restoreRow: async (row) => new LogMaintenance(file).restoreRow(row).rows > 0,
      async endLosses(position) {
        new LogMaintenance(file).endLosses(position);
        known.end(position);
      },
      read: async (after, limit) => reader.read(after, limit),
    },
    append: (upload, partId) => appendRaw(encodeUpload(upload), partId),
    replaceLast(upload) {
      file.prepare('DELETE FROM log WHERE position = ?').run(last);
      write(last, encodeUpload(upload), 'part-1');
    },
    mql,
    ask: (stages, request = {}) =>
      tabular.query({ plan: planOf(stages), scope: wholeOrganization, vocabulary: 'core', ...request }),
    count: async () => ((await mql([{ $count: 'n' }]))[0]?.['n'] as number) ?? 0,
    async [Symbol.asyncDispose]() {
      await tabular[Symbol.asyncDispose]();
      reader[Symbol.dispose]();
      file.close();
      await metadata[Symbol.asyncDispose]();
      await store?.[Symbol.asyncDispose]();
    },
  };
}

export function encodeUpload({ place = testPlace, metadata, readings, syncedMs = loadedMs }: TestUpload): Uint8Array {
  return toBinary(
    LoggedUploadSchema,
    create(LoggedUploadSchema, {
      metadata: {
        partId: 'part-1',
        componentType: 'core:component:sensor',
        componentName: 'cpu',
        methodName: 'Readings',
        type: DataType.TABULAR_SENSOR,
        ...metadata,
      },
      place,
      timeSynced: timestamp(syncedMs),
      readings: readings.map(encodeReading),
    }),
  );
}

function encodeReading({ data, receivedMs = loadedMs, requestedMs = receivedMs }: TestReading): Uint8Array {
  const metadata = {
    ...(requestedMs !== null && { timeRequested: timestamp(requestedMs) }),
    ...(receivedMs !== null && { timeReceived: timestamp(receivedMs) }),
  };
  if (!(data instanceof Uint8Array))
    return toBinary(SensorDataSchema, create(SensorDataSchema, { metadata, data: { case: 'struct', value: data } }));
  const head = toBinary(SensorDataSchema, create(SensorDataSchema, { metadata }));
  const { number } = SensorDataSchema.field['struct'];
  return new BinaryWriter().raw(head).tag(number, WireType.LengthDelimited).bytes(data).finish();
}

function timestamp(ms: number): { seconds: bigint; nanos: number } {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1_000) * 1_000) * 1_000 };
}

/** Converts JavaScript values to BSON values: a Date becomes a date, a number a double. */
function bson(value: unknown): BsonValue {
  if (value instanceof Date) return new BsonDate(value.getTime());
  if (Array.isArray(value)) return value.map(bson);
  if (typeof value !== 'object' || value === null) return value as BsonValue;
  return new BsonDocument(Object.entries(value).map(([name, member]) => [name, bson(member)]));
}

/** Converts BSON values to JavaScript: an ordered document becomes an object, a date a Date, an int32 a number. */
export function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]));
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof BsonDate) return new Date(value.ms);
  if (typeof value === 'object' && value !== null && 'value' in value) return value.value;
  return value;
}
