/** Describes the leaves of rows as facts, in an order of names that holds in every row if there is one, and assigns their columns. */
import { createHash } from 'node:crypto';
import { kind, type LeafFacts, leafColumns } from '../files/file-facts.ts';
import { type GatheredLeaves, type LeafCounts, presentKinds } from './gather-leaves.ts';
import { type Leaf, type LeafTree, orderedChildren } from './leaf-tree.ts';

/** Limits for the leaf columns of one file: number of columns, and number of values in all of them together; a text counts as two. */
export const columnLimits = { columns: 256, cells: 64_000_000 } as const;

/** A leaf with its number in the tree. */
export interface DescribedLeaf extends LeafFacts {
  readonly of: number;
  /** Average bytes of a text. */
  readonly textBytes: number;
}

/** Facts without columns, which chooseColumns adds. @param rows number of documents walked */
export function describeLeaves(tree: LeafTree, gathered: GatheredLeaves, rows: number): DescribedLeaf[] {
  if (tree.unreadable)
    return [
      { path: [], kinds: kind.object, rows, complete: false, ordered: false, of: tree.root.number, textBytes: 0 },
    ];
  const leaves: DescribedLeaf[] = [];
  const describe = (leaf: Leaf, path: readonly string[]): void => {
    const { number } = leaf;
    const counts = number === tree.root.number ? { ...noCounts, object: rows } : gathered.countsOf(number);
    const children = orderedChildren(leaf);
    const numbers = gathered.numbersOf(number);
    const text = gathered.textsOf(number);
    const present = presentKinds.reduce((sum, name) => sum + counts[name], 0);
    leaves.push({
      path,
      kinds: kindsOf(counts, present < rows),
      rows: present,
      ...(numbers && { number: numbers }),
      ...(text && { text }),
      ...(counts.object > 0 && {
        complete: leaf.complete,
        ordered: leaf.complete && leaf.ordered && children !== undefined,
      }),
      of: number,
      textBytes: gathered.textBytesOf(number),
    });
    for (const child of children ?? leaf.children.values()) describe(child, [...path, child.name]);
  };
  describe(tree.root, []);
  return leaves;
}

const noCounts: LeafCounts = { double: 0, string: 0, bool: 0, null: 0, object: 0, array: 0 };

function kindsOf(counts: LeafCounts, isMissing: boolean): number {
  const found = presentKinds.filter((name) => counts[name] > 0);
  return found.reduce((bits, name) => bits | kind[name], isMissing ? kind.missing : 0);
}

/** Columns and values of a file that are still available for leaves. */
export interface ColumnBudget {
  columns: number;
  cells: number;
  /** By prefix of the column names: the leaf's path, so that another path with the same hash does not get them. */
  readonly paths: Map<string, string>;
  /** Names already used; leaves of several slices share columns. */
  readonly names: Set<string>;
}

export function newColumnBudget(): ColumnBudget {
  return { columns: columnLimits.columns, cells: columnLimits.cells, paths: new Map(), names: new Set() };
}

/**
 * Assigns columns to leaves; leaves in most rows have priority.
 * @param rows of the file
 * @param may whether the leaf may have columns at all
 */
export function chooseColumns<L extends LeafFacts>(
  leaves: readonly L[],
  rows: number,
  columnBudget: ColumnBudget,
  may: (leaf: L) => boolean,
): L[] {
  const chosen = new Map<L, string>();
  for (const leaf of leaves.filter(may).toSorted((a, b) => b.rows - a.rows)) {
    const path = JSON.stringify(leaf.path);
    const column = columnOfPath(leaf.path);
    const taken = columnBudget.paths.get(column);
    // Two paths with the same hash; only an attack can produce these.
    if (taken !== undefined && taken !== path) continue;
    const { text, ...others } = leafColumns({ ...leaf, column });
    const names = [...(text === undefined ? [] : [text, text]), ...Object.values(others)];
    const added = names.filter((name) => !columnBudget.names.has(name));
    const addedColumns = new Set(added).size;
    if (addedColumns > columnBudget.columns || rows * added.length > columnBudget.cells) continue;
    columnBudget.paths.set(column, path);
    for (const name of added) columnBudget.names.add(name);
    columnBudget.columns -= addedColumns;
    columnBudget.cells -= rows * added.length;
    chosen.set(leaf, column);
  }
  return leaves.map((leaf) => {
    const column = chosen.get(leaf);
    return column === undefined ? leaf : { ...leaf, column };
  });
}

/** Prefix of the names of a leaf's columns, the same in every file. */
export function columnOfPath(path: readonly string[]): string {
  const text = JSON.stringify(path);
  let column = names.get(text);
  if (column === undefined) {
    column = `l${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    if (names.size >= 10_000) names.clear();
    names.set(text, column);
  }
  return column;
}

const names = new Map<string, string>();
