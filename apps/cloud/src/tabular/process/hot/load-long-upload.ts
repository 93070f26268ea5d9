/**
 * Writes an upload that is longer than what one tail holds into a hot batch of several files, while it is decoded. Its rows are never all in
 * memory: decoded, in DuckDB's table and in the file, a million short readings took 25 times their bytes (D48).
 */
import { rm } from 'node:fs/promises';
import { runInTurns, type Steps } from '@platform/base';
import type { newDecodeBuffers } from '../log/decode-upload.ts';
import type { LoggedRow } from '../log/read-log.ts';
import { type Damage, fillTail } from './fill-tail.ts';
import type { HotBatch } from './hot-batch.ts';
import { isTailFull, type Tail, type TailLimits } from './tail.ts';

/** What has been loaded: a tail with all rows, or a batch with all rows if they are more than a tail holds. */
export interface LoadedUpload {
  readonly damage: readonly Damage[];
  readonly batch: HotBatch | undefined;
}

/**
 * @param own an empty tail, which nobody else sees; without rows again if a batch is written
 * @param write writes the rows of a tail to the files of a batch
 * @throws what `write` throws; nothing has been loaded then, and no files are left
 */
export async function loadLongUpload(
  own: Tail,
  logged: readonly LoggedRow[],
  { buffers, nowMs, limits, write }: LoadOptions,
): Promise<LoadedUpload> {
  const steps = fillTail(own, logged, buffers, nowMs);
  const parts: HotBatch[] = [];
  const writePart = async (): Promise<void> => {
    parts.push(await write(own));
    own.rows.truncate(0);
  };
  try {
    let next = await runInTurns(untilFull(steps, own, limits));
    while (next.done !== true) {
      await writePart();
      next = await runInTurns(untilFull(steps, own, limits));
    }
    if (parts.length > 0 && own.rows.rows > 0) await writePart();
    return { damage: next.value, batch: parts.length === 0 ? undefined : joined(parts, own) };
  } catch (caught) {
    for (const { path } of parts.flatMap(({ files }) => files)) await rm(path, { force: true });
    throw caught;
  }
}

export interface LoadOptions {
  readonly buffers: ReturnType<typeof newDecodeBuffers>;
  /** Monotonic. */
  readonly nowMs: number;
  /** When a file is full. */
  readonly limits: TailLimits;
  readonly write: (tail: Tail) => Promise<HotBatch>;
}

/** Ends as soon as the tail is full, before the next reading is decoded; then nothing is in progress, and the tail may be emptied. */
function* untilFull<T>(steps: Steps<T>, tail: Tail, limits: TailLimits): Steps<IteratorResult<undefined, T>> {
  for (;;) {
    const next = steps.next();
    if (next.done === true || isTailFull(tail, limits)) return next;
    yield;
  }
}

function joined(parts: readonly HotBatch[], { from, to }: Tail): HotBatch {
  const [{ notePath }] = parts as [HotBatch];
  return {
    ...{ from, to, notePath },
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    dataBytes: parts.reduce((sum, { dataBytes }) => sum + dataBytes, 0),
    files: parts.flatMap(({ files }) => files),
    slices: parts.flatMap(({ slices }) => slices),
  };
}
