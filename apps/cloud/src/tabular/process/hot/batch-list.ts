/** The hot batches in order, and their readers: the files of a batch stay until no query reads it any more. */
import { rm } from 'node:fs/promises';
import { filePaths, type HotBatch } from './hot-batch.ts';

export interface BatchList {
  /** Oldest first. */
  readonly all: readonly HotBatch[];
  /** @param sinceMs when its oldest row was loaded; monotonic */
  add(batch: HotBatch, sinceMs: number): void;
  sinceMs(batch: HotBatch): number | undefined;
  /** Keeps the files of these batches until the returned function is called. */
  hold(batches: readonly HotBatch[]): () => void;
  /** The merged batch takes the place and the age of the first of these; the others are removed. */
  merge(small: readonly HotBatch[], merged: HotBatch): void;
  /** Removes the batches whose rows are all at positions up to this one; returns the last position removed. */
  drop(upTo: number): number | undefined;
}

export function createBatchList(): BatchList {
  const readers = new Map<HotBatch, number>();
  const gone = new Set<HotBatch>();
  const since = new Map<HotBatch, number>();
  let all: HotBatch[] = [];

  const remove = (batch: HotBatch): void => {
    if ((readers.get(batch) ?? 0) > 0) {
      gone.add(batch);
      return;
    }
    gone.delete(batch);
    since.delete(batch);
    for (const path of [...filePaths([batch]), batch.notePath]) rm(path, { force: true }).catch(() => {});
  };

  return {
    get all() {
      return all;
    },
    add(batch, sinceMs) {
      all.push(batch);
      since.set(batch, sinceMs);
    },
    sinceMs: (batch) => since.get(batch),
    hold(batches) {
      for (const batch of batches) readers.set(batch, (readers.get(batch) ?? 0) + 1);
      return () => {
        for (const batch of batches) {
          const left = (readers.get(batch) ?? 1) - 1;
          if (left > 0) readers.set(batch, left);
          else {
            readers.delete(batch);
            if (gone.has(batch)) remove(batch);
          }
        }
      };
    },
    merge(small, merged) {
      const [first] = small as [HotBatch];
      const sinceMs = since.get(first);
      if (sinceMs !== undefined) since.set(merged, sinceMs);
      all = all.flatMap((batch) => (batch === first ? [merged] : small.includes(batch) ? [] : [batch]));
      for (const batch of small) remove(batch);
    },
    drop(upTo) {
      const dropped = all.filter(({ to }) => to <= upTo);
      all = all.filter((batch) => !dropped.includes(batch));
      for (const batch of dropped) remove(batch);
      return dropped.at(-1)?.to;
    },
  };
}
