/** The leaves of a file as facts: in an order of their names that holds in every row, if there is one, and with the columns they get. */
import { createHash } from 'node:crypto';
import { kind, type LeafFacts, leafColumns } from '../file-facts.ts';
import type { GatheredLeaves, LeafCounts } from './gather-leaves.ts';
import { type Leaf, type LeafTree, orderedChildren } from './leaf-tree.ts';

/** Columns of one file for leaves, and values in all of them together; a text counts as two. */
export const columnLimits = { columns: 256, cells: 64_000_000 } as const;

export interface DescribedLeaf {
  readonly facts: LeafFacts;
  /** Its number in the tree. */
  readonly number: number;
  readonly counts: LeafCounts;
}

/** @param rows documents that were walked. */
export function describeLeaves(tree: LeafTree, gathered: GatheredLeaves, rows: number): DescribedLeaf[] {
  if (tree.unreadable)
    return [{ facts: { path: [], kinds: kind.object, rows, complete: false, ordered: false }, ...rootOf(rows) }];
  const leaves: DescribedLeaf[] = [];
  const describe = (leaf: Leaf, path: readonly string[]): void => {
    const { number } = leaf;
    const counts = number === tree.root.number ? rootOf(rows).counts : gathered.countsOf(number);
    const children = orderedChildren(leaf);
    const numbers = gathered.numbersOf(number);
    const text = gathered.textsOf(number);
    const present = counts.double + counts.string + counts.bool + counts.null + counts.object + counts.array;
    const facts: LeafFacts = {
      path,
      kinds: kindsOf(counts, present < rows),
      rows: present,
      ...(numbers && { number: numbers }),
      ...(text && { text }),
      ...(counts.object > 0 && {
        complete: leaf.complete,
        ordered: leaf.complete && leaf.ordered && children !== undefined,
      }),
    };
    leaves.push({ facts, number, counts });
    for (const child of children ?? leaf.children.values()) describe(child, [...path, child.name]);
  };
  describe(tree.root, []);
  return withColumns(leaves, rows);
}

function rootOf(rows: number): Pick<DescribedLeaf, 'number' | 'counts'> {
  return { number: 0, counts: { double: 0, string: 0, bool: 0, null: 0, object: rows, array: 0 } };
}

function kindsOf(counts: LeafCounts, isMissing: boolean): number {
  return (
    (isMissing ? kind.missing : 0) |
    (counts.null > 0 ? kind.null : 0) |
    (counts.double > 0 ? kind.double : 0) |
    (counts.string > 0 ? kind.string : 0) |
    (counts.bool > 0 ? kind.bool : 0) |
    (counts.object > 0 ? kind.object : 0) |
    (counts.array > 0 ? kind.array : 0)
  );
}

/** Those in most rows win. */
function withColumns(leaves: readonly DescribedLeaf[], rows: number): DescribedLeaf[] {
  const chosen = new Map<DescribedLeaf, string>();
  const names = new Set<string>();
  let columns = 0;
  let cells = 0;
  for (const leaf of leaves.toSorted((a, b) => b.facts.rows - a.facts.rows)) {
    const column = columnOf(leaf.facts.path);
    const own = leafColumns({ ...leaf.facts, column });
    const ownColumns = Object.keys(own).length;
    const ownCells = rows * (ownColumns + (own.text === undefined ? 0 : 1));
    if (columns + ownColumns > columnLimits.columns || cells + ownCells > columnLimits.cells) continue;
    // Two paths of one hash: someone looked for them.
    if (names.has(column)) continue;
    names.add(column);
    chosen.set(leaf, column);
    columns += ownColumns;
    cells += ownCells;
  }
  return leaves.map((leaf) => {
    const column = chosen.get(leaf);
    return column === undefined ? leaf : { ...leaf, facts: { ...leaf.facts, column } };
  });
}

function columnOf(path: readonly string[]): string {
  return `l${createHash('sha256').update(JSON.stringify(path)).digest('hex').slice(0, 16)}`;
}
