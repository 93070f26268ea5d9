/** Chooses hot batches to merge, so that queries open tens of files instead of hundreds. */
import type { TabularSettings } from '../../settings.ts';
import type { HotBatch } from './hot-batch.ts';

/** How many batches of which sizes are merged (default number: from the settings). Small ones first. */
const merges: readonly Merge[] = [
  { rows: [1, 16_384], bytes: 4 << 20, total: 32 << 20 },
  // With few and large rows, a larger file would fill the memory of readers, which take 2,048 rows at a time.
  { batches: 8, rows: [4_096, 65_536], bytes: 9 << 20, total: 72 << 20 },
];

interface Merge {
  readonly batches?: number;
  readonly rows: readonly [least: number, most: number];
  readonly bytes: number;
  /** Total bytes of the batches to merge; no more than a sealed file may have. */
  readonly total: number;
}

/** The first sufficiently long sequence of adjacent batches. @param batches adjacent, in order */
export function pickMerge(
  batches: readonly HotBatch[],
  { mergeFiles, fileBytes }: Pick<TabularSettings, 'mergeFiles' | 'fileBytes'>,
): readonly HotBatch[] | undefined {
  const within = (merge: Merge): Required<Merge> => ({
    batches: mergeFiles,
    ...merge,
    total: Math.min(merge.total, fileBytes),
  });
  return merges.map((merge) => runFor(within(merge), batches)).find(Boolean);
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
