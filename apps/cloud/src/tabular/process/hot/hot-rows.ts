/**
 * The unsealed rows: a cache of the log from S on (I8). The newest are decoded in memory (a tail), the others are in the files of hot
 * batches.
 *
 * Invariants: batches and tails follow each other and cover (low-water mark, loaded]. A position is in one of them with all its rows, or
 * not at all. A batch is removed only after no query reads it any more, and only if its rows are in listed files and no open snapshot reads
 * them (the parent reports that), or another batch has taken its rows.
 */
import { type Clock, createLimiter, errorText, type Log, runInTurns, runToEnd } from '@platform/base';
import type { TabularSettings } from '../../settings.ts';
import type { Database } from '../duckdb/database.ts';
import type { Writer } from '../duckdb/writer.ts';
import { rowsOfGroup } from '../files/row-group.ts';
import { organizationOf, type Slice } from '../files/slice.ts';
import { newDecodeBuffers } from '../log/decode-upload.ts';
import type { LoggedRow, LogReader } from '../log/read-log.ts';
import { createBatchList } from './batch-list.ts';
import { type Damage, fillTail } from './fill-tail.ts';
import { checkStamps, type HotBatch, HotFileChanged } from './hot-batch.ts';
import { adoptHotBatches, writeManifest } from './hot-batch-manifest.ts';
import { loadLongUpload } from './load-long-upload.ts';
import { pickMerge } from './pick-merge.ts';
import { createTail, isTailFull, type Tail, type TailLimits } from './tail.ts';
import { createLoadWaiters } from './wait-for-load.ts';

/** Rows of the log decoded per step; queries wait for the end of a step. */
const stepLimit = { rows: 2_000, bytes: 1 << 20 };

/** With more tails than this in memory, the loader waits until the oldest is written; the last is the one being filled. */
const mostTails = 2;

/** Bytes in memory while files cannot be written; above this the loader stops. */
const maxTailBytes = 192 << 20;

/** The data that a query reads; none of it is removed before release. */
export interface HotSnapshot {
  /** Slices of the organization, oldest first. */
  readonly slices: readonly HotSlice[];
  readonly tails: readonly Tail[];
  release(): void;
}

export interface HotSlice {
  readonly slice: Slice;
  /** Last position of its rows. */
  readonly to: number;
}

export interface HotRows {
  /** Hot rows are complete after this position. */
  readonly lowWaterMark: number;
  /** … up to this one. */
  readonly loaded: number;
  readonly rows: number;
  readonly dataBytes: number;
  /** The rows after `position`; `sinceMs` (monotonic): since when the oldest has been there, if there is any. */
  after(position: number): { readonly rows: number; readonly dataBytes: number; readonly sinceMs: number | undefined };
  /** Takes over what an earlier process left unchanged; removes the rest. Must be called once, before anything else. */
  adopt(): Promise<void>;
  /** Loads some rows of the log; returns whether there may be more. */
  loadNext(onDamaged: (damage: Damage) => void): Promise<boolean>;
  /** Resolves when rows up to the position are loaded; rejects when the signal is aborted first. */
  reach(position: number, signal: AbortSignal): Promise<void>;
  /**
   * An organization's rows in (after, upTo]; tails also hold rows of others.
   * @param readsRows false: rows are only counted, so tails may be large
   */
  open(range: {
    readonly organizationId: string;
    readonly after: number;
    readonly upTo: number;
    readonly readsRows: boolean;
  }): Promise<HotSnapshot>;
  /**
   * Writes the rows in memory to files. Returns the batches after `sealed`, about `bytes` of them and at least one, and their last
   * position.
   */
  toSeal(sealed: number, bytes: number): Promise<{ readonly batches: readonly HotBatch[]; readonly upTo: number }>;
  /**
   * Merges small batches after `sealed`, if queries read them and there are enough; returns whether it did. Not while batches are being
   * sealed.
   */
  compact(sealed: number): Promise<boolean>;
  /** Forgets batches whose rows are all at positions up to this one. */
  drop(upTo: number): void;
}

export function createHotRows(options: {
  readonly sealed: number;
  readonly database: Database;
  readonly writer: Writer;
  readonly reader: LogReader;
  /** parquet/.hot */
  readonly directory: string;
  readonly settings: TailLimits &
    Pick<TabularSettings, 'tailRows' | 'tailBytes' | 'mergeFiles' | 'fileBytes' | 'rowGroupBytes'>;
  readonly clock: Clock;
  readonly log: Log;
}): HotRows {
  const { sealed, database, writer, reader, directory, settings, clock, log } = options;
  const loading = createLimiter(1);
  const writing = createLimiter(1);
  const buffers = newDecodeBuffers();
  const batches = createBatchList();
  /** The last one is open. */
  let tails: Tail[] = [createTail(sealed)];
  let lowWaterMark = sealed;
  /** Batches up to here are being sealed or were sealed; they are not merged with others. */
  let claimed = sealed;
  let failedWrites = 0;
  /** Whether a query has read batches since a merge last found nothing to do: merging only serves queries. */
  let isRead = false;
  const current = (): Tail => tails.at(-1) as Tail;
  const waiters = createLoadWaiters(() => current().to);
  const tailCount = (): number => tails.reduce((sum, { rows }) => sum + rows.rows, 0);
  const tailBytes = (): number => tails.reduce((sum, { rows }) => sum + rows.dataBytes, 0);
  let connection: ReturnType<Database['connect']> | undefined;
  const connect = (): ReturnType<Database['connect']> => {
    connection ??= database.connect();
    connection.catch(() => {
      connection = undefined;
    });
    return connection;
  };

  const freeze = (): void => {
    const { rows, to } = current();
    // Positions without rows are left to the next file.
    if (rows.rows > 0) tails.push(createTail(to));
  };

  const write = async (tail: Tail): Promise<HotBatch> => {
    const { writeHotBatch } = await import('./write-hot-batch.ts');
    return writeHotBatch(await connect(), tail, directory);
  };

  /** @param tail the rows of the batch were in it */
  const noteBatch = async (batch: HotBatch, { damaged, lastBatch }: Tail): Promise<void> => {
    if (damaged || lastBatch === undefined) return;
    await writeManifest(batch, lastBatch).catch((caught: unknown) =>
      log.warn('a note of hot rows could not be written; the next start reads them from the log', {
        error: errorText(caught),
      }),
    );
  };

  /** Writes frozen tails, oldest first; rows that cannot be written stay in memory. */
  const writeTails = (): Promise<void> =>
    writing(async () => {
      while (tails.length > 1) {
        const tail = tails[0] as Tail;
        const batch = await write(tail);
        batches.add(batch, tail.filledSinceMs ?? clock.monotonic());
        tails = tails.slice(1);
        await noteBatch(batch, tail);
      }
    });

  const failedWrite = (caught: unknown): undefined => {
    if (failedWrites++ === 0)
      log.error('hot rows could not be written to a file; they stay in memory', { error: errorText(caught) });
  };

  const tryWriteTails = async (): Promise<void> => {
    try {
      await writeTails();
      failedWrites = 0;
    } catch (caught) {
      failedWrite(caught);
    }
  };

  /**
   * Loads into a tail of its own, or a batch, which nobody sees before it is complete. Only the loader adds positions, so that it follows the
   * others.
   */
  const loadLong = async (logged: readonly LoggedRow[]): Promise<readonly Damage[]> => {
    freeze();
    const writeAfterOthers = async (tail: Tail): Promise<HotBatch> => {
      // A batch follows those of all tails before it.
      await writeTails();
      return writing(() => write(tail));
    };
    const options = { buffers, nowMs: clock.monotonic(), limits: settings, write: writeAfterOthers };
    const { to: after } = current();
    let own = createTail(after);
    let loaded = await loadLongUpload(own, logged, options).catch(failedWrite);
    if (loaded === undefined) {
      own = createTail(after);
      const damage = await runInTurns(fillTail(own, logged, buffers, options.nowMs));
      loaded = { damage, batch: undefined };
    }
    freeze();
    // Positions without rows are left to it; taken only now, because they may have been sealed in the meantime.
    const empty = current();
    own.from = empty.from;
    own.damaged ||= empty.damaged;
    own.filledSinceMs = empty.filledSinceMs ?? own.filledSinceMs;
    if (loaded.batch === undefined) tails[tails.length - 1] = own;
    else {
      const batch = { ...loaded.batch, from: own.from };
      batches.add(batch, own.filledSinceMs ?? options.nowMs);
      tails = [createTail(own.to)];
      await noteBatch(batch, own);
    }
    return loaded.damage;
  };

  const load = async (onDamaged: (damage: Damage) => void): Promise<boolean> => {
    if (tailBytes() > maxTailBytes) {
      await tryWriteTails();
      if (tailBytes() > maxTailBytes) return false;
    }
    const logged = await reader.read(current().to, stepLimit);
    if (logged.length === 0) return false;
    const bytes = logged.reduce((sum, { batch }) => sum + batch.length, 0);
    // Taken only now, because the open tail may have been frozen in the meantime.
    const damaged =
      bytes > stepLimit.bytes
        ? await loadLong(logged)
        : runToEnd(fillTail(current(), logged, buffers, clock.monotonic()));
    for (const damage of damaged) onDamaged(damage);
    waiters.wake();
    if (isTailFull(current(), settings)) {
      freeze();
      const written = tryWriteTails();
      // One tail is written while the next is filled.
      if (tails.length > mostTails) await written;
    }
    return true;
  };

  return {
    get lowWaterMark() {
      return lowWaterMark;
    },
    get loaded() {
      return current().to;
    },
    get rows() {
      return this.after(lowWaterMark).rows;
    },
    get dataBytes() {
      return this.after(lowWaterMark).dataBytes;
    },
    after(position) {
      const later = batches.all.filter(({ to }) => to > position);
      const open = tails.filter(({ to }) => to > position);
      const first = later[0];
      return {
        rows: later.reduce((sum, { rows }) => sum + rows, 0) + open.reduce((sum, { rows }) => sum + rows.rows, 0),
        dataBytes:
          later.reduce((sum, { dataBytes }) => sum + dataBytes, 0) +
          open.reduce((sum, { rows }) => sum + rows.dataBytes, 0),
        sinceMs: first === undefined ? open[0]?.filledSinceMs : batches.sinceMs(first),
      };
    },
    adopt: () =>
      loading(async () => {
        const adopted = await adoptHotBatches({ sealed, directory, reader }).catch((caught: unknown) => {
          log.warn('hot batches could not be taken over; their rows are read from the log', {
            error: errorText(caught),
          });
          return [];
        });
        for (const batch of adopted) batches.add(batch, clock.monotonic());
        tails = [createTail(adopted.at(-1)?.to ?? sealed)];
        // A query may already be waiting: if the batches hold the whole log, no load follows that would wake it.
        waiters.wake();
      }),
    loadNext: (onDamaged) => loading(() => load(onDamaged)),
    reach: (position, signal) => waiters.reach(position, signal),
    async open({ organizationId, after, upTo, readsRows }) {
      isRead = true;
      // Reading more than that as documents takes longer than writing it.
      const isSmall = tailCount() <= settings.tailRows && tailBytes() <= settings.tailBytes;
      if (readsRows && !isSmall) {
        const { rows } = current();
        if (rows.rows > settings.tailRows || rows.dataBytes > settings.tailBytes) freeze();
        await tryWriteTails();
      }
      // Both lists are taken without yielding, because a tail may become a batch in between.
      const held = batches.all.filter(({ from, to }) => to > after && from < upTo);
      const heldTails = tails.filter(({ from, to }) => to > after && from < upTo);
      const release = batches.hold(held);
      try {
        const across = held.find(({ from }) => from < after);
        if (across !== undefined) throw new HotFileChanged(across.notePath);
        const slices = held.flatMap(({ slices: all, to }) =>
          all.flatMap((slice) => (organizationOf(slice) === organizationId ? [{ slice, to }] : [])),
        );
        const paths = new Set(slices.map(({ slice }) => slice.path));
        checkStamps(held.flatMap(({ files }) => files.filter(({ path }) => paths.has(path))));
        return { slices, tails: heldTails, release };
      } catch (caught) {
        release();
        throw caught;
      }
    },
    async toSeal(position, bytes) {
      freeze();
      await writeTails();
      const ahead = batches.all.filter(({ to }) => to > position);
      checkStamps(ahead.flatMap(({ files }) => files));
      let takenBytes = 0;
      const taken = ahead.filter(({ dataBytes }, i) => {
        const isFirst = i === 0;
        takenBytes += dataBytes;
        return isFirst || takenBytes <= bytes;
      });
      const last = taken.at(-1);
      const [oldest] = tails as [Tail];
      const isAll = last === undefined || taken.length === ahead.length;
      // Positions without rows after the last batch are sealed with it.
      if (isAll && tails.length === 1 && oldest.rows.rows === 0) {
        oldest.from = oldest.to;
        oldest.filledSinceMs = undefined;
      }
      claimed = last === undefined || isAll ? oldest.from : last.to;
      return { batches: taken, upTo: claimed };
    },
    async compact(position) {
      if (!isRead) return false;
      const least = Math.max(position, claimed);
      const free = batches.all.filter(({ from }) => from >= least);
      const small = pickMerge(free, settings);
      if (small === undefined) {
        isRead = false;
        return false;
      }
      const { mergeHotBatches } = await import('../merge/merge-hot-batches.ts');
      const slices = small.flatMap((batch) => batch.slices);
      const rowGroup = (averageBytes: number): number => rowsOfGroup(averageBytes, settings.rowGroupBytes);
      const merged = await writer.write(slices, (own) => mergeHotBatches(own, small, directory, rowGroup));
      const [row] = await reader.read(merged.to - 1, { rows: 1, bytes: 1 });
      if (row !== undefined && small.every(({ noted }) => noted === true)) await writeManifest(merged, row.batch);
      // None of them has been sealed in the meantime: `claimed` and the callers' limiter prevent it.
      batches.merge(small, merged);
      return true;
    },
    drop(upTo) {
      lowWaterMark = Math.max(lowWaterMark, batches.drop(upTo) ?? 0);
    },
  };
}
