/**
 * Which columns of a file make up the fields that a query reads of its rows, so that the rows' own bytes need not be read. The executor
 * decodes only those fields, so more than them may be in a row, but what there is must be as it is in the row itself.
 */
import type { FieldRead, Path } from '@platform/query';
import { type FileFacts, kind, type LeafColumns } from '../../files/file-facts.ts';
import { childrenOf, leafAt } from '../conditions/leaf.ts';

/** A field of `data` or below, as rows are rebuilt. */
export interface Shape {
  readonly name: string;
  /** Bits of `kind` that occur. */
  readonly kinds: number;
  /** Those of them that are written; a value of another kind is left out. */
  readonly writes: number;
  readonly columns: LeafColumns;
  /** No one looks at whether it is there: it is written as an object in every row. */
  readonly isAlways: boolean;
  readonly children: readonly Shape[];
}

export interface RowShape {
  /** Columns of the row that are the same for all rows of a series, times, and data; in any order. */
  readonly names: ReadonlySet<string>;
  readonly data?: Shape;
}

interface Wanted {
  whole: boolean;
  place: boolean;
  readonly below: Map<string, Wanted>;
}

const newWanted = (): Wanted => ({ whole: false, place: false, below: new Map() });

/** What of a field of `data`, or of data itself, stays: all of it, or of objects what is in fields below. */
export type Kept = 'all' | ReadonlyMap<string, Kept>;

/**
 * A field as it is, out of columns; where only parts of it are kept, an object with them, and nothing where it is no object.
 * @param path below `data`.
 * Undefined when that cannot be told for every row.
 */
export function keptShape(name: string, path: Path, kept: Kept, facts: FileFacts): Shape | undefined {
  return shapeOf(name, path, wantedOf(kept), facts, true);
}

function wantedOf(kept: Kept): Wanted {
  if (kept === 'all') return { ...newWanted(), whole: true };
  return { whole: false, place: true, below: new Map([...kept].map(([name, of]) => [name, wantedOf(of)])) };
}

/** Undefined when a field cannot be rebuilt from columns in every row. */
export function rowShape(fields: readonly FieldRead[], facts: FileFacts): RowShape | undefined {
  const names = new Set<string>();
  const root = newWanted();
  let isDataRead = false;
  for (const { path, as } of fields) {
    const [name = '', ...below] = path;
    names.add(name);
    if (name !== 'data') continue;
    isDataRead = true;
    let wanted = root;
    if (as === 'place') wanted.place = true;
    for (const part of below) {
      const next = wanted.below.get(part) ?? newWanted();
      wanted.below.set(part, next);
      if (as === 'place') next.place = true;
      wanted = next;
    }
    wanted.whole = true;
  }
  if (!isDataRead) return { names };
  const data = shapeOf('data', [], root, facts);
  return data && { names, data };
}

/** More columns than this are no faster than the rows themselves. */
const maxShapes = 64;

/** @param isExact nothing is written that is not wanted: no one reads what stands where an object is expected. */
function shapeOf(
  name: string,
  path: Path,
  wanted: Wanted,
  facts: FileFacts,
  isExact = false,
  depth = 0,
): Shape | undefined {
  const leaf = leafAt(facts, path);
  if (leaf === undefined || leaf.isThroughArray || depth > maxDepth) return undefined;
  const { kinds, columns } = leaf;
  if ((kinds & kind.array) !== 0) return undefined;
  const isAlways = !wanted.whole && !wanted.place;
  // Of a value that is not an object, a path that leads into it finds nothing, whatever it is.
  if (!isAlways && !leaf.isKnown) return undefined;
  if (wanted.whole && leaf.facts?.number?.negativeZero === true) return undefined;
  const children: Shape[] = [];
  if ((kinds & kind.object) !== 0) {
    const listed = childrenOf(facts, path);
    if (wanted.whole && leaf.facts?.complete !== true) return undefined;
    const parts = wanted.whole
      ? listed.map((child) => child.path.at(-1) as string)
      : inOrder(
          [...wanted.below.keys()],
          listed.map((child) => child.path.at(-1) as string),
        );
    if (parts.length > maxShapes) return undefined;
    if (!isAlways && parts.length > 1 && leaf.facts?.ordered !== true) return undefined;
    for (const part of parts) {
      const below = wanted.whole ? { whole: true, place: wanted.place, below: new Map() } : wanted.below.get(part);
      const child = below && shapeOf(part, [...path, part], below, facts, isExact, depth + 1);
      if (child === undefined) return undefined;
      children.push(child);
    }
  }
  const writes = isExact && !wanted.whole ? kinds & kind.object : kinds;
  return { name, kinds, writes, columns, isAlways, children };
}

const maxDepth = 100;

function inOrder(wanted: readonly string[], listed: readonly string[]): readonly string[] {
  return [...listed.filter((name) => wanted.includes(name)), ...wanted.filter((name) => !listed.includes(name))];
}
