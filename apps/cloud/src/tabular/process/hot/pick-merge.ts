/** Which hot batches are to become one, so that queries open tens of files instead of hundreds. */
import type { HotBatch } from './hot-batch.ts';

/** How many become one (default: as the settings say), of which sizes. Small ones first. */
const merges: readonly Merge[] = [
  { rows: [1, 16_384], bytes: 4 << 20, total: 32 << 20 },
  // Of few and large rows a larger file would fill the memory of whoever reads 2,048 of them at a time.
  { batches: 8, rows: [4_096, 65_536], bytes: 9 << 20, total: 72 << 20 },
];

interface Merge {
  readonly batches?: number;
  readonly rows: readonly [least: number, most: number];
  readonly bytes: number;
  /** Bytes of all of them. */
  readonly total: number;
}

/** The first ones next to each other of which there are enough. @param batches adjacent, in order. @param files as in the settings. */
export function pickMerge(batches: readonly HotBatch[], files: number): readonly HotBatch[] | undefined {
  return merges.map((merge) => runFor({ batches: files, ...merge }, batches)).find(Boolean);
}

function runFor(merge: Required<Merge>, batches: readonly HotBatch[]): readonly HotBatch[] | undefined {
  const [least, most] = merge.rows;
  let run: HotBatch[] = [];
  let bytes = 0;
  for (const batch of batches) {
    const fits = batch.rows >= least && batch.rows <= most && batch.dataBytes <= merge.bytes;
    if (!fits || bytes + batch.dataBytes > merge.total) {
      run = [];
      bytes = 0;
    }
    if (!fits) continue;
    bytes += batch.dataBytes;
    if (run.push(batch) === merge.batches) return run;
  }
  return undefined;
}
