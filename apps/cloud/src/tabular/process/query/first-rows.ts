/**
 * Queries that end after their first rows: a $limit before anything that drops, adds, orders or combines rows. Files behind those that hold
 * these rows for sure are not read, and are not metered (D26).
 */
import { isReadOnce, type PlanSplit } from '@platform/query';
import type { TailRows } from '../hot/tail.ts';
import type { ScanRequest } from '../messages.ts';
import { keptRows, type Wanted } from '../pushdown/choose-pushdown.ts';
import type { OpenFile } from '../pushdown/open-files.ts';

export interface FirstRows {
  /** How many rows of the source, behind its filters, the query needs. */
  readonly rows: number;
  readonly wanted: Wanted;
}

/** Undefined: all. @param wantedOf called only if there is a limit */
export function firstRowsOf(split: PlanSplit, wantedOf: (split: PlanSplit) => Wanted): FirstRows | undefined {
  const { pre, end, post } = split;
  if (!isReadOnce({ source: 'readings', stages: [...pre, ...post] })) return undefined;
  if (end !== 'rows' && end.k !== 'shape' && end.k !== 'replace') return undefined;
  let skipped = 0;
  for (const stage of post) {
    if (stage.k === 'shape' || stage.k === 'replace') continue;
    if (stage.k !== 'slice') return undefined;
    skipped += stage.skip;
    if (stage.limit !== undefined) return { rows: skipped + stage.limit, wanted: wantedOf(split) };
  }
  return undefined;
}

export interface FirstFiles {
  /** A prefix of the files. */
  readonly files: readonly OpenFile[];
  /** Rows that must come from elsewhere; 0: the last one of the files holds the last ones. */
  readonly left: number;
  /** How much of the last file is needed, from 0 to 1. */
  readonly ofLast: number;
}

export function firstFiles(files: readonly OpenFile[], { rows, wanted }: FirstRows, request: ScanRequest): FirstFiles {
  let left = rows;
  if (left === 0) return { files: [], left, ofLast: 1 };
  for (const [index, file] of files.entries()) {
    const kept = keptRows(file, wanted, request);
    // Otherwise nobody knows how many rows pass before they are read.
    if (kept?.areWhole !== true) continue;
    const sure = kept.numbers.reduce((sum, number) => sum + (file.facts.series[number]?.rows ?? 0), 0);
    if (sure >= left) return { files: files.slice(0, index + 1), left: 0, ofLast: left / sure };
    left -= sure;
  }
  return { files, left, ofLast: 1 };
}

/** Metered bytes of rows in memory. @param first what is still needed of them */
export function tailBytes(
  tails: readonly Pick<TailRows, 'rows' | 'meteredBytes'>[],
  first: FirstRows | undefined,
): number {
  // With a filter, nobody knows how many of them pass.
  let left =
    first === undefined || (first.rows > 0 && first.wanted.parts.length > 0) ? Number.POSITIVE_INFINITY : first.rows;
  let bytes = 0;
  for (const { rows, meteredBytes } of tails) {
    bytes += left >= rows.length ? meteredBytes : Math.ceil((left / rows.length) * meteredBytes);
    left = Math.max(0, left - rows.length);
  }
  return bytes;
}
