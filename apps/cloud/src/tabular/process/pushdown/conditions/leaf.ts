/** What a file's facts show about the values at one path, and the SQL that distinguishes their kinds. */
import { memoized } from '@platform/base';
import type { Path } from '@platform/query';
import { type FileFacts, kind, type LeafColumns, type LeafFacts, leafColumns } from '../../files/file-facts.ts';
import { and, no, type Sql, yes } from './sql.ts';

export interface Leaf {
  /** Bits of `kind` that occur. */
  readonly kinds: number;
  readonly columns: LeafColumns;
  /** The columns tell the kind of each row, and contain the values of doubles, strings and bools. */
  readonly isKnown: boolean;
  /** In some rows the path leads through an array; the other fields describe the remaining rows. */
  readonly isThroughArray: boolean;
  readonly facts?: LeafFacts;
}

const missing: Leaf = { kinds: kind.missing, columns: {}, isKnown: true, isThroughArray: false };

const indexOf = memoized(
  ({ leaves }: FileFacts): ReadonlyMap<string, LeafFacts> =>
    new Map(leaves.map((leaf) => [JSON.stringify(leaf.path), leaf])),
);

/** @param path below `data`. Undefined when the facts do not describe the path. */
export function leafAt(facts: FileFacts, path: Path): Leaf | undefined {
  const index = indexOf(facts);
  let isThroughArray = false;
  let above: LeafFacts | undefined;
  for (let length = 0; length <= path.length; length++) {
    const found = index.get(JSON.stringify(path.slice(0, length)));
    if (found === undefined) {
      const isNowhere = above !== undefined && ((above.kinds & kind.object) === 0 || above.complete === true);
      return isNowhere ? { ...missing, isThroughArray } : undefined;
    }
    if (length < path.length && (found.kinds & kind.array) !== 0) isThroughArray = true;
    above = found;
  }
  return above && leafOf(above, isThroughArray);
}

function leafOf(facts: LeafFacts, isThroughArray: boolean): Leaf {
  const { kinds } = facts;
  const isPure = (kinds & (kinds - 1)) === 0;
  const hasValue = (kinds & (kind.double | kind.string | kind.bool)) !== 0;
  return {
    kinds,
    columns: leafColumns(facts),
    isKnown: facts.column !== undefined || (isPure && !hasValue),
    isThroughArray,
    facts,
  };
}

/** A leaf whose numbers are all in a column unchanged; undefined if they are not, or this is unknown. */
export function leafOfNumbers(facts: FileFacts, path: Path): Leaf | undefined {
  const leaf = leafAt(facts, path);
  // A column does not distinguish 0 and -0.
  return leaf?.isKnown === true && leaf.facts?.number?.negativeZero !== true ? leaf : undefined;
}

/** The children of an object, in document order if it is `ordered`. */
export function childrenOf(facts: FileFacts, path: Path): readonly LeafFacts[] {
  return facts.leaves.filter(
    (leaf) => leaf.path.length === path.length + 1 && path.every((name, level) => leaf.path[level] === name),
  );
}

/** SQL, never NULL, for whether a row's value is of a kind. Only for known leaves. */
export function isOfKind({ kinds, columns }: Leaf, bit: number): Sql {
  if ((kinds & bit) === 0) return no;
  if (kinds === bit) return yes;
  if (columns.kind !== undefined) return bit === kind.missing ? `${columns.kind} IS NULL` : isSet(columns.kind, bit);
  if (bit === kind.double) return `${columns.number} IS NOT NULL`;
  if (bit === kind.string) return `${columns.text} IS NOT NULL`;
  if (bit === kind.bool) return `${columns.bool} IS NOT NULL`;
  return and(
    [columns.number, columns.text, columns.bool].filter((name) => name !== undefined).map((name) => `${name} IS NULL`),
  );
}

function isSet(column: string, bit: number): Sql {
  return `(${column} IS NOT NULL AND ${column} = ${bit})`;
}
