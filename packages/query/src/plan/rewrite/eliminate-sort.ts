/**
 * Groups of sorted rows without the sort: first and last (N) become top and bottom (N), which carry the order with them, so that rows
 * fold as they come. What comes out is the same to the last bit, only the order of the groups is not that of the sort.
 */

import { functions } from '../../functions/registry.ts';
import { isPathColumn, isTimeColumn } from '../columns.ts';
import { type Expr, field } from '../expr.ts';
import { decomposes } from '../partial-state.ts';
import type { Accumulator, AccumulatorFields, GroupStage, SortKey, SortStage, Stage } from '../stage.ts';

export interface UnsortedGroup {
  readonly group: GroupStage;
  /** Stages that follow the whole groups. */
  readonly after: readonly Stage[];
}

/** Undefined where the order plays a part that accumulators cannot take over. */
export function eliminateSort({ by, top, at }: SortStage, grouping: GroupStage): UnsortedGroup | undefined {
  const group: GroupStage = at === undefined ? grouping : { ...grouping, sortAt: at };
  if (top !== undefined) return undefined;
  const accumulators: AccumulatorFields = group.accumulators.flatMap(([name, accumulator]) => {
    const ordered = inOrder(accumulator, by);
    return ordered === undefined ? [] : [[name, ordered] as const];
  });
  if (accumulators.length < group.accumulators.length) return undefined;
  // The sort refuses rows with two arrays among their keys: so must whatever takes its place.
  const looksAtKeys = by.length === 1 || accumulators.some(([, { fn }]) => ofRows.has(fn));
  if (looksAtKeys && hasOneForm(group.key)) return { group: { ...group, accumulators }, after: [] };
  // Of keys that are equal but not the same (1 and 1.0) the group has that of its first row in the order.
  const name = unused(group.accumulators);
  const key: Accumulator = { fn: 'top', arg: group.key, by };
  return {
    group: { ...group, accumulators: [...accumulators, [name, key]] },
    after: [
      {
        k: 'shape',
        mode: 'set',
        tree: { k: 'tree', fields: [['_id', { k: 'set', value: field(name) }]] },
      },
      { k: 'shape', mode: 'exclude', tree: { k: 'tree', fields: [[name, { k: 'drop' }]] } },
    ],
  };
}

/** Those that look at the keys of the order in each row. */
const ofRows: ReadonlySet<string> = new Set(['top', 'bottom', 'topN', 'bottomN']);

function inOrder(accumulator: Accumulator, by: readonly SortKey[]): Accumulator | undefined {
  if (!decomposes(accumulator)) return undefined;
  const { fn, distinct, arg } = accumulator;
  // Rows with equal keys would stay in the order of the sort.
  if (ofRows.has(fn)) return undefined;
  const taken = takenOver[fn];
  if (taken !== undefined) return { ...accumulator, fn: taken, by };
  // Of equal values that are not the same the first one in the order counts.
  if (distinct === true || fn === 'addToSet' || fn === 'minN' || fn === 'maxN')
    return hasOneForm(arg) ? accumulator : undefined;
  return (fn === 'min' || fn === 'max') && !hasOneForm(arg) ? { ...accumulator, by } : accumulator;
}

const takenOver: Readonly<Record<string, string | undefined>> = {
  first: 'top',
  last: 'bottom',
  firstN: 'topN',
  lastN: 'bottomN',
};

/** Its values are never equal without being the same, as numbers of different types can be. */
function hasOneForm(expr: Expr): boolean {
  switch (expr.k) {
    case 'lit':
      return true;
    case 'field':
      return expr.path.length === 1 && (isPathColumn(expr.path[0]!) || isTimeColumn(expr.path[0]!));
    case 'doc':
      return expr.fields.every(([, value]) => hasOneForm(value));
    case 'call':
      if (functions.get(expr.fn)?.numberTypes === 'none') return true;
      return expr.fn === 'agg.ifNull' && expr.args.every(hasOneForm);
    default:
      return false;
  }
}

function unused(accumulators: AccumulatorFields): string {
  let name = '$key';
  while (accumulators.some(([each]) => each === name)) name = `$${name}`;
  return name;
}
