/** Merges the leaves of several slices from their facts: the result holds for the rows of all slices. */
import { kind, type LeafFacts, type NumberFacts, type TextFacts } from '../files/file-facts.ts';
import type { Slice } from '../files/slice.ts';
import { type ColumnBudget, chooseColumns, newColumnBudget } from '../shred/describe-leaves.ts';
import { leafLimits } from '../shred/leaf-tree.ts';

/** A leaf with its facts in each slice; undefined where all rows of a slice lack it. */
export interface MergedLeaf extends LeafFacts {
  readonly of: readonly (LeafFacts | undefined)[];
}

/**
 * Leaves and their columns: only leaves whose values are in columns of every slice get columns.
 * @param fileRows rows of the file that will hold the columns
 */
export function mergeLeaves(
  slices: readonly Pick<Slice, 'leaves' | 'rows'>[],
  fileRows: number,
  columnBudget: ColumnBudget = newColumnBudget(),
): MergedLeaf[] {
  const rows = slices.reduce((sum, slice) => sum + slice.rows, 0);
  const root = newNode(slices.length);
  for (const [at, slice] of slices.entries()) addSlice(root, slice.leaves, at);
  const leaves: MergedLeaf[] = [];
  const describe = (node: Node, path: readonly string[]): boolean => {
    if (leaves.length >= leafLimits.leaves) return false;
    const place = leaves.push(mergedLeaf(node, path, rows)) - 1;
    let isWhole = true;
    for (const name of node.names) {
      const child = node.children.get(name) as Node;
      isWhole = isKnown(child, node) && describe(child, [...path, name]) && isWhole;
    }
    const leaf = leaves[place] as MergedLeaf;
    if (!isWhole && leaf.complete) leaves[place] = { ...leaf, complete: false, ordered: false };
    return true;
  };
  describe(root, []);
  return chooseColumns(leaves, fileRows, columnBudget, ({ of }) => of.every(isInColumns));
}

/** Whether each slice knows the kind of the leaf in all its rows, or that it does not occur. */
function isKnown({ of }: Node, parent: Node): boolean {
  return of.every((leaf, slice) => {
    const above = parent.of[slice];
    return leaf !== undefined || above === undefined || above.complete === true || (above.kinds & kind.object) === 0;
  });
}

interface Node {
  /** By slice. */
  readonly of: (LeafFacts | undefined)[];
  readonly children: Map<string, Node>;
  /** Names of the children; while `ordered`, in an order that holds in every slice. */
  readonly names: string[];
  ordered: boolean;
}

function newNode(slices: number): Node {
  const of = new Array<LeafFacts | undefined>(slices).fill(undefined);
  return { of, children: new Map(), names: [], ordered: true };
}

/** @param leaves each directly after its parent, or after a sibling and everything below it */
function addSlice(root: Node, leaves: readonly LeafFacts[], at: number): void {
  // By depth: the index, in the parent's names, of the last child that the slice added.
  const above: { readonly node: Node; place: number }[] = [];
  for (const leaf of leaves) {
    const { path } = leaf;
    const name = path.at(-1);
    above.length = path.length;
    let node = root;
    if (name !== undefined) {
      const parent = above[path.length - 1];
      if (parent === undefined) throw new Error(`expected the parent of leaf ${name} before it, found none`);
      node = childOf(parent, name, root.of.length);
    }
    node.of[at] = leaf;
    above.push({ node, place: 0 });
  }
}

/** Inserts the name after the one that precedes it in the slice. */
function childOf(parent: { readonly node: Node; place: number }, name: string, slices: number): Node {
  const { children, names } = parent.node;
  let child = children.get(name);
  if (child === undefined) {
    child = newNode(slices);
    children.set(name, child);
    names.splice(parent.place++, 0, name);
    return child;
  }
  const place = names.indexOf(name, parent.place);
  if (place < 0) parent.node.ordered = false;
  else parent.place = place + 1;
  return child;
}

function mergedLeaf({ of, ordered }: Node, path: readonly string[], rows: number): MergedLeaf {
  const found = of.filter((leaf) => leaf !== undefined);
  const present = found.reduce((sum, leaf) => sum + leaf.rows, 0);
  const kinds = found.reduce((bits, leaf) => bits | leaf.kinds, 0) & ~kind.missing;
  const numbers = found.flatMap(({ number }) => number ?? []);
  const texts = found.flatMap(({ text }) => text ?? []);
  const objects = found.filter((leaf) => (leaf.kinds & kind.object) !== 0);
  const complete = objects.every((leaf) => leaf.complete === true);
  return {
    path,
    kinds: kinds | (present < rows ? kind.missing : 0),
    rows: present,
    ...(numbers.length > 0 && { number: mergedNumber(numbers) }),
    ...(texts.length > 0 && { text: mergedText(texts) }),
    ...(objects.length > 0 && {
      complete,
      ordered: complete && ordered && objects.every((leaf) => leaf.ordered === true),
    }),
    of,
  };
}

function mergedNumber(numbers: readonly NumberFacts[]): NumberFacts {
  // If all values are zero, the lowest bit is 0 and says nothing about other values.
  const bits = numbers.filter(({ min, max }) => min !== 0 || max !== 0).map(({ lowestBit }) => lowestBit);
  return {
    min: Math.min(...numbers.map(({ min }) => min)),
    max: Math.max(...numbers.map(({ max }) => max)),
    lowestBit: bits.length === 0 ? 0 : Math.min(...bits),
    negativeZero: numbers.some(({ negativeZero }) => negativeZero),
    nonFinite: numbers.some(({ nonFinite }) => nonFinite),
  };
}

function mergedText(texts: readonly TextFacts[]): TextFacts {
  const least = (a: string, b: string): string => (Buffer.compare(Buffer.from(a), Buffer.from(b)) <= 0 ? a : b);
  const max = texts.map((text) => text.max);
  return {
    min: texts.map(({ min }) => min).reduce(least),
    max: max.some((text) => text === null) ? null : (max as string[]).reduce((a, b) => (least(a, b) === a ? b : a)),
  };
}

/** Whether the kind and value of each row can be derived from the columns of the slice. */
function isInColumns(leaf: LeafFacts | undefined): boolean {
  if (leaf === undefined || leaf.column !== undefined) return true;
  return leaf.path.length === 0 || ((leaf.kinds & (leaf.kinds - 1)) === 0 && (leaf.kinds & valued) === 0);
}

const valued = kind.double | kind.string | kind.bool;
