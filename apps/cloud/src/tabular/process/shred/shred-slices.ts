/**
 * Splits the documents of a hot file's rows into typed columns: walked once, slice by slice, to learn what is there; what was found
 * then fills the columns that are worth it, chunk by chunk. Between the steps others get their turn.
 */
import { largeRows } from '../../query/large-rows.ts';
import type { LeafFacts } from '../files/file-facts.ts';
import { type ColumnBuffers, createColumnBuffers } from './column-buffers.ts';
import { chooseColumns, type DescribedLeaf, describeLeaves, newColumnRoom } from './describe-leaves.ts';
import { gatherLeaves } from './gather-leaves.ts';
import { createLeafTree } from './leaf-tree.ts';
import { createWalker, type Entries } from './walk-documents.ts';

/** Documents end to end, in the order of the file; behind the last one `bytes` may continue. */
export interface Documents {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

/** Rows of a slice, by their place in the file. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

export interface ShreddedSlices {
  /** By slice. */
  readonly leaves: readonly (readonly LeafFacts[])[];
  readonly buffers: ColumnBuffers;
  /** Fills the buffers, which are clear, with the rows [from, to): at most a chunk, one after the other. */
  fill(from: number, to: number): void;
}

export async function shredSlices(documents: Documents, slices: readonly RowRange[]): Promise<ShreddedSlices> {
  const buffers = createColumnBuffers();
  const room = newColumnRoom();
  const rows = documents.ends.length;
  const walked = new Map<RowRange, { entries: Entries; leaves: DescribedLeaf[] }>();
  // Who has the most rows chooses columns first.
  for (const slice of slices.toSorted((a, b) => b.to - b.from - (a.to - a.from))) {
    const { entries, leaves } = await walkSlice(documents, slice);
    walked.set(slice, { entries, leaves: chooseColumns(leaves, rows, room, isWorthColumns) });
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

/** Large texts are in the documents alone: whoever wants them reads as much there, and twice is too much to write, hold and keep. */
function isWorthColumns({ textBytes }: DescribedLeaf): boolean {
  return textBytes < largeRows.rowBytes;
}

const pauseRows = 2_048;
/** Large documents make rows long. */
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
