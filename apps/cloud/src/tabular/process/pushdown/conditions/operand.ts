/** A field in conditions on one file: the kinds of its values in rows, and SQL for each kind. */
import { getOrInsert, memoized } from '@platform/base';
import { type Expr, isTimeColumn } from '@platform/query';
import { type FileFacts, kind } from '../../files/file-facts.ts';
import { isOfKind, leafAt } from './leaf.ts';
import type { Sql } from './sql.ts';

export type OperandKind = 'missing' | 'null' | 'double' | 'string' | 'bool' | 'object' | 'array' | 'date';

export interface Alternative {
  readonly kind: OperandKind;
  /** Whether the row's value is of this kind; never NULL. */
  readonly is: Sql;
  /** SQL of the value, NULL in rows of other kinds: a DOUBLE, VARCHAR or BOOLEAN; for a date, BIGINT microseconds. */
  readonly value?: string;
  /** For dates: the least and greatest in the file, in microseconds. */
  readonly range?: { readonly least: bigint; readonly most: bigint };
}

export interface Operand {
  /** Together they cover all rows. */
  readonly alternatives: readonly Alternative[];
  /** Some doubles are NaN or infinite. */
  readonly nonFinite: boolean;
  /** Some doubles are -0. */
  readonly negativeZero: boolean;
}

/** Undefined when the field's value in each row is not known exactly. */
export function operandOf(expr: Expr, facts: FileFacts): Operand | undefined {
  if (expr.k !== 'field' && !(expr.k === 'var' && (expr.name === 'ROOT' || expr.name === 'CURRENT'))) return undefined;
  const [column, ...below] = expr.path;
  if (column === undefined) return undefined;
  if (isTimeColumn(column) && below.length === 0) return timeOperand(column, facts);
  if (column !== 'data') return undefined;
  const leaf = leafAt(facts, below);
  if (leaf === undefined || !leaf.isKnown || leaf.isThroughArray) return undefined;
  const { number, text, bool } = leaf.columns;
  const values: Partial<Record<OperandKind, string | undefined>> = { double: number, string: text, bool };
  const kinds = Object.keys(kind) as (keyof typeof kind)[];
  return {
    alternatives: kinds
      .filter((name) => (leaf.kinds & kind[name]) !== 0)
      .map((name) => ({
        kind: name,
        is: isOfKind(leaf, kind[name]),
        ...(values[name] !== undefined && { value: values[name] }),
      })),
    nonFinite: leaf.facts?.number?.nonFinite ?? false,
    negativeZero: leaf.facts?.number?.negativeZero ?? false,
  };
}

/** Names of the facts of a series, by time column. */
export const timeFacts = { time_received: 'received', time_requested: 'requested', time_synced: 'synced' } as const;

export type TimeName = (typeof timeFacts)[keyof typeof timeFacts];

function timeOperand(column: keyof typeof timeFacts, facts: FileFacts): Operand {
  const { anyMissing, range } = heldTimes(timeFacts[column], facts);
  const date: Alternative = {
    kind: 'date',
    is: anyMissing ? `${column} IS NOT NULL` : 'TRUE',
    value: column,
    ...(range && { range }),
  };
  return {
    alternatives: anyMissing ? [date, { kind: 'null', is: `${column} IS NULL` }] : [date],
    nonFinite: false,
    negativeZero: false,
  };
}

interface HeldTimes {
  readonly anyMissing: boolean;
  readonly range: Alternative['range'];
}

/** Cached, because every condition on a time needs it. */
const held = memoized((_: FileFacts) => new Map<TimeName, HeldTimes>());

/** Range over all series of a file. */
function heldTimes(name: TimeName, facts: FileFacts): HeldTimes {
  return getOrInsert(held(facts), name, () => {
    const all = facts.series.map((one) => one[name]);
    let least: bigint | null = null;
    let most: bigint | null = null;
    for (const { min, max } of all) {
      if (min !== null && (least === null || min < least)) least = min;
      if (max !== null && (most === null || max > most)) most = max;
    }
    const range = least === null || most === null ? undefined : { least, most };
    return { anyMissing: all.some(({ missing }) => missing > 0), range };
  });
}
