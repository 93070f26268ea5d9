/**
 * Splits the documents of a hot file's rows into typed columns. The documents are walked once, slice by slice, to find their leaves; then
 * the columns worth having are filled chunk by chunk. Other work can run between the steps.
 */
import { largeRows } from '../../query/large-rows.ts';
import type { LeafFacts } from '../files/file-facts.ts';
import { type ColumnBuffers, createColumnBuffers } from './column-buffers.ts';
import { chooseColumns, type DescribedLeaf, describeLeaves, newColumnBudget } from './describe-leaves.ts';
import { gatherLeaves } from './gather-leaves.ts';
import { createLeafTree } from './leaf-tree.ts';
import { createWalker, type Entries } from './walk-documents.ts';

/** Documents end to end, in file order; `bytes` may continue after the last one. */
export interface Documents {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

/** Rows of a slice, by their index in the file. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

export interface ShreddedSlices {
  /** Indexed by slice. */
  readonly leaves: readonly (readonly LeafFacts[])[];
  readonly buffers: ColumnBuffers;
  /** Fills the cleared buffers with the rows [from, to), at most a chunk; must be called in order. */
  fill(from: number, to: number): void;
}

export async function shredSlices(documents: Documents, slices: readonly RowRange[]): Promise<ShreddedSlices> {
  const buffers = createColumnBuffers();
  const columnBudget = newColumnBudget();
  const rows = documents.ends.length;
  const walked = new Map<RowRange, { entries: Entries; leaves: DescribedLeaf[] }>();
  // Slices with the most rows choose columns first.
  for (const slice of slices.toSorted((a, b) => b.to - b.from - (a.to - a.from))) {
    const { entries, leaves } = await walkSlice(documents, slice);
    walked.set(slice, { entries, leaves: chooseColumns(leaves, rows, columnBudget, isWorthColumns) });
  }
  const fillers = slices.map((slice) => {
    const { entries, leaves } = walked.get(slice) as { entries: Entries; leaves: DescribedLeaf[] };
    return { slice, entries, add: buffers.forLeaves(leaves), next: 0 };
  });
  return {
    leaves: slices.map((slice) => (walked.get(slice)?.leaves ?? []).map(({ of: _, textBytes: __, ...facts }) => facts)),
    buffers,
    fill(from, to) {
      for (const filler of fillers) {
        const { slice, entries, add, next } = filler;
        if (slice.from >= to || slice.to <= from) continue;
        let end = next;
        while (end < entries.count && (entries.row[end] as number) < to) end++;
        add(entries, next, end, documents.bytes, from);
        filler.next = end;
      }
    },
  };
}

/** Large texts stay only in the documents: a column would not save reading, and would double what is written and stored. */
function isWorthColumns({ textBytes }: DescribedLeaf): boolean {
  return textBytes < largeRows.rowBytes;
}

const pauseRows = 2_048;
/** Pause after this many bytes, because large documents make rows long. */
const pauseBytes = 2 << 20;

async function walkSlice(
  { bytes, ends }: Documents,
  { from, to }: RowRange,
): Promise<{ entries: Entries; leaves: DescribedLeaf[] }> {
  const tree = createLeafTree();
  const { entries, walk } = createWalker(tree);
  const gathered = gatherLeaves();
  let start = from === 0 ? 0 : (ends[from - 1] as number);
  let paused = { row: from, at: start };
  for (let row = from; row < to; row++) {
    const end = ends[row] as number;
    walk(bytes, start, end, row);
    start = end;
    if (row - paused.row < pauseRows && end - paused.at < pauseBytes) continue;
    paused = { row, at: end };
    await new Promise((resolve) => setImmediate(resolve));
  }
  gathered.add(entries, bytes);
  return { entries, leaves: describeLeaves(tree, gathered, to - from) };
}
