/**
 * Which columns of a file contain the fields that a query reads, so that the rows' documents need not be read. The executor decodes only
 * those fields, so a rebuilt row may hold more fields, but what it holds must equal the original row.
 */
import { getOrInsert } from '@platform/base';
import type { FieldRead, Path } from '@platform/query';
import { type FileFacts, kind, type LeafColumns } from '../../files/file-facts.ts';
import { childrenOf, leafAt } from '../conditions/leaf.ts';

/** A field of `data` or below, as it is rebuilt. */
export interface Shape {
  readonly name: string;
  /** Bits of `kind` that occur. */
  readonly kinds: number;
  /** The kinds that are written; values of other kinds are omitted. */
  readonly writes: number;
  readonly columns: LeafColumns;
  /** Whether the query never checks that it exists: it is then written as an object in every row. */
  readonly isAlways: boolean;
  readonly children: readonly Shape[];
}

export interface RowShape {
  /** Columns that are constant within a series, times, and data; in any order. */
  readonly names: ReadonlySet<string>;
  readonly data?: Shape;
}

interface Wanted {
  whole: boolean;
  place: boolean;
  readonly below: Map<string, Wanted>;
}

const newWanted = (): Wanted => ({ whole: false, place: false, below: new Map() });

/** What is kept of `data` or one of its fields: everything, or, for objects, some of the fields below. */
export type Kept = 'all' | ReadonlyMap<string, Kept>;

/**
 * Rebuilds a field from columns. If only parts of it are kept, it becomes an object with them, or is missing if it is not an object.
 * Undefined if that is not known for every row.
 * @param path below `data`
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
      const next = getOrInsert(wanted.below, part, newWanted);
      if (as === 'place') next.place = true;
      wanted = next;
    }
    wanted.whole = true;
  }
  if (!isDataRead) return { names };
  const data = shapeOf('data', [], root, facts);
  return data && { names, data };
}

/** With more columns than this, reading the rows themselves is as fast. */
const maxShapes = 64;

/** @param isExact only wanted values are written: the query does not read a value found in place of an expected object */
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
  // A path through a value that is not an object finds nothing, whatever the value is.
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
