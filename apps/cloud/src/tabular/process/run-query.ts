/** One query in the child: waits for the rows, scans, runs the plan, sends batches (I7). */
import type { DuckDBConnection } from '@duckdb/node-api';
import { PlatformError } from '@platform/base';
import { type Batch, decodePlan, execute, isLight } from '@platform/query';
import type { Series } from '../series.ts';
import type { Database } from './database.ts';
import type { Executors } from './executors.ts';
import type { HotRows } from './hot-rows.ts';
import type { FromChild, QueryMessage } from './messages.ts';
import { queryFailure } from './query-failure.ts';
import { fileSource, type Source, StaleSnapshot, segmentSource } from './source.ts';

export interface QueryRoom {
  readonly database: Database;
  readonly hot: HotRows;
  readonly executors: Executors;
  readonly parquetDir: string;
  /** Series of files that were read before. */
  readonly knownFiles: Map<string, readonly Series[]>;
  readonly send: (message: FromChild) => Promise<void>;
}

/** Never throws: it ends with `done`, `failed` or `stale`. */
export async function runQuery(message: QueryMessage, room: QueryRoom, signal: AbortSignal): Promise<void> {
  const { id, after, upTo } = message;
  const { hot, database, send } = room;
  const scan = { scannedBytes: 0 };
  let connection: DuckDBConnection | undefined;
  const interrupt = (): void => connection?.interrupt();
  try {
    signal.throwIfAborted();
    await hot.reach(upTo, signal);
    // Rows that the snapshot counts as hot were dropped before this process began: only a newer snapshot can be answered.
    if (after < hot.floor) return await send({ kind: 'stale', id });
    connection = await database.connect();
    signal.addEventListener('abort', interrupt);
    const { scanRows } = await import('./scan.ts');
    const input = scanRows(connection, sources(message, room, connection), message, scan);
    let sent = 0;
    for await (const batch of answered(message.plan, input, room.executors, signal)) {
      signal.throwIfAborted();
      sent += batch.bytes.length;
      if (sent > message.maxResultBytes) throw tooLarge(message.maxResultBytes);
      // A batch may be a view into a larger buffer; only its own bytes cross.
      if (batch.count > 0)
        await send({ kind: 'rows', id, batch: { count: batch.count, bytes: batch.bytes, ends: batch.ends } });
      // Other queries, the loader and a cancellation get their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    signal.throwIfAborted();
    await send({ kind: 'done', id, scannedBytes: scan.scannedBytes });
  } catch (caught) {
    if (caught instanceof StaleSnapshot) {
      await send({ kind: 'log', level: 'warn', message: caught.message, fields: {} });
      return await send({ kind: 'stale', id });
    }
    const { code, message: text } = queryFailure(signal.aborted ? signal.reason : caught);
    await send({ kind: 'failed', id, code, message: text, scannedBytes: scan.scannedBytes });
  } finally {
    signal.removeEventListener('abort', interrupt);
    connection?.closeSync();
  }
}

/** Bytes of a plan times bytes of its input up to which a light plan runs on this thread: some tens of milliseconds at the very worst. */
const maxInlineWork = 2 ** 28;

/** Little work is done at once, all else by a thread of its own. */
async function* answered(
  plan: Uint8Array,
  input: AsyncGenerator<Batch>,
  executors: Executors,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const read: Batch[] = [];
  try {
    const { stages } = decodePlan(plan);
    let work = isLight(stages) ? 0 : Number.POSITIVE_INFINITY;
    while (work <= maxInlineWork) {
      const next = await input.next();
      if (next.done === true) return yield* execute(stages, read, { signal });
      read.push(next.value);
      work += plan.length * next.value.bytes.length;
    }
    yield* executors.run(plan, chained(read, input), signal);
  } finally {
    await input.return(undefined);
  }
}

async function* chained(first: Batch[], rest: AsyncGenerator<Batch>): AsyncGenerator<Batch> {
  for (let batch = first.shift(); batch !== undefined; batch = first.shift()) yield batch;
  yield* rest;
}

async function* sources(message: QueryMessage, room: QueryRoom, connection: DuckDBConnection): AsyncGenerator<Source> {
  for (const file of message.files) yield await fileSource(connection, room.parquetDir, file, room.knownFiles);
  for (const segment of room.hot.between(message.after, message.upTo)) yield segmentSource(segment);
}

function tooLarge(maxBytes: number): PlatformError {
  const limit = `${Math.floor(maxBytes / (1 << 20))} MiB`;
  return new PlatformError(
    'resource_exhausted',
    `the answer is larger than ${limit}; add $limit (LIMIT) or $project (fewer columns), or filter on a shorter time_received range`,
  );
}
