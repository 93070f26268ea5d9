/** One query in the child: waits for the rows, chooses how each source is read, runs the rest of the plan and sends batches (I7). */
import { type PlatformError, resourceExhausted } from '@platform/base';
import { type Batch, DocumentBatch, executeSplit, isLinear, type SourceBatch } from '@platform/query';
import type { TabularSettings } from '../../settings.ts';
import { Connections, type Database } from '../duckdb/database.ts';
import { MissingFile } from '../files/checked-file.ts';
import type { FileVerifier, VerifiedReader } from '../files/verify-files.ts';
import { HotFileChanged } from '../hot/hot-batch.ts';
import type { HotRows, HotSnapshot } from '../hot/hot-rows.ts';
import type { FromChild, QueryMessage } from '../messages.ts';
import type { GroupCache } from '../pushdown/groups/group-cache.ts';
import type { KnownFacts } from '../pushdown/open-files.ts';
import { passThroughRows } from './pass-through-rows.ts';
import { askedOf, type PreparedQuery, prepareQuery } from './prepare-query.ts';
import { failureOf } from './query-failure.ts';
import { StaleSnapshot } from './stale-snapshot.ts';
import type { WorkerPool } from './worker-pool.ts';

export interface QueryContext {
  readonly database: Database;
  readonly hot: HotRows;
  readonly workers: WorkerPool;
  readonly parquetDir: string;
  readonly knownFacts: KnownFacts;
  readonly groupCache: GroupCache;
  readonly files: FileVerifier;
  readonly topBytes: TabularSettings['topBytes'];
  readonly send: (message: FromChild) => Promise<void>;
  /** Ends this process, so that the next one reads hot rows from the log again; the parent then repeats the query. */
  readonly restart: (reason: Error) => Promise<never>;
}

/** Never throws: it ends with `done`, `failed` or `stale`. */
export async function runQuery(message: QueryMessage, context: QueryContext, signal: AbortSignal): Promise<void> {
  const { id, after, upTo } = message;
  const { hot, database, send } = context;
  let scannedBytes = 0;
  let snapshot: HotSnapshot | undefined;
  const connections = new Connections(database);
  const reader = context.files.reader(signal);
  const interrupt = (): void => connections.interrupt();
  try {
    signal.throwIfAborted();
    await hot.reach(upTo, signal);
    // Hot rows of the snapshot were dropped before this process began: only a newer snapshot can be answered.
    if (after < hot.lowWaterMark) return await send({ kind: 'stale', id });
    signal.addEventListener('abort', interrupt);
    const asked = await askedOf(message);
    snapshot = await hot.open({ ...message.scope, after, upTo, readsRows: !asked.isOfFacts });
    const query = await prepareQuery(message, asked, context, snapshot, connections, reader);
    scannedBytes = query.scannedBytes;
    let sent = 0;
    for await (const batch of answered(query, message.plan, context.workers, signal)) {
      signal.throwIfAborted();
      sent += batch.bytes.length;
      if (sent > message.maxResultBytes) throw tooLarge(message.maxResultBytes);
      // A batch may be a view of a larger buffer; only its own bytes are sent.
      if (batch.count > 0)
        await send({ kind: 'rows', id, batch: { count: batch.count, bytes: batch.bytes, ends: batch.ends } });
      // Let other queries, the loader and cancellation run.
      await new Promise((resolve) => setImmediate(resolve));
    }
    signal.throwIfAborted();
    reader.unchanged();
    query.groups?.commit();
    await send({ kind: 'done', id, scannedBytes, sources: query.sources() });
  } catch (thrown) {
    // If a file has changed, report that instead of the error that it caused.
    const caught = signal.aborted ? thrown : (changeOf(reader) ?? thrown);
    if (caught instanceof StaleSnapshot) {
      await send({ kind: 'log', level: 'warn', message: caught.message, fields: {} });
      return await send({ kind: 'stale', id, ...(caught instanceof MissingFile && { missing: caught.file }) });
    }
    if (caught instanceof HotFileChanged) return await context.restart(caught);
    await send({ kind: 'failed', id, ...failureOf(signal.aborted ? signal.reason : caught), scannedBytes });
  } finally {
    signal.removeEventListener('abort', interrupt);
    connections.close();
    snapshot?.release();
  }
}

function changeOf(reader: VerifiedReader): unknown {
  try {
    reader.unchanged();
  } catch (caught) {
    return caught;
  }
  return undefined;
}

/** Up to this product of plan bytes and input bytes, a linear plan runs on this thread: at worst some tens of milliseconds. */
const maxInlineWork = 2 ** 28;

/** Runs small work on this thread, and larger work on a separate thread. */
async function* answered(
  { split: { pre, post }, input }: PreparedQuery,
  plan: Uint8Array,
  workers: WorkerPool,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const read: SourceBatch[] = [];
  try {
    if (post.length === 0) {
      const rest = yield* passThroughRows(input);
      if (rest === 'all') return;
      if (rest !== undefined) read.push(rest);
    }
    let work = isLinear([...pre, ...post]) ? 0 : Number.POSITIVE_INFINITY;
    while (work <= maxInlineWork) {
      const next = await input.next();
      if (next.done === true) return yield* executeSplit(pre, post, read, { signal });
      read.push(next.value);
      work += plan.length * bytesOf(next.value.batch);
    }
    yield* workers.run(plan, chained(read, input), signal);
  } finally {
    await input.return(undefined);
  }
}

/** Approximate size, without encoding documents that are not needed as bytes. */
function bytesOf(batch: Batch): number {
  return batch instanceof DocumentBatch ? batch.bytesAbout : batch.bytes.length;
}

/** Encodes batches as bytes for another thread. */
async function* chained(first: SourceBatch[], rest: AsyncGenerator<SourceBatch>): AsyncGenerator<SourceBatch> {
  const plain = ({ batch, done }: SourceBatch): SourceBatch => ({
    batch: batch instanceof DocumentBatch ? batch.encoded() : batch,
    done,
  });
  for (let batch = first.shift(); batch !== undefined; batch = first.shift()) yield plain(batch);
  for await (const batch of rest) yield plain(batch);
}

function tooLarge(maxBytes: number): PlatformError {
  const limit = `${Math.floor(maxBytes / (1 << 20))} MiB`;
  return resourceExhausted(
    `the answer is larger than ${limit}; add $limit (LIMIT) or $project (fewer columns), or filter on a shorter time_received range`,
  );
}
