/**
 * Groups sorted rows without the sort. $first and $last (N) become $top and $bottom (N), which take the order as their operand, so that
 * rows can be folded in any order. Each accumulator states its replacement (`unsorted`). The groups are identical to the last bit, but not
 * in the order of the sort.
 */

import { accumulatorOf } from '../../accumulators/registry.ts';
import { functions } from '../../functions/registry.ts';
import type { Accumulator, AccumulatorFields } from '../accumulator.ts';
import { isPathColumn, isTimeColumn } from '../columns.ts';
import { type Expr, field } from '../expr.ts';
import { decomposes } from '../partial-state.ts';
import type { SortKey } from '../sort-key.ts';
import type { GroupStage, SortStage, Stage } from '../stage.ts';

export interface UnsortedGroup {
  readonly group: GroupStage;
  /** Stages that follow the complete groups. */
  readonly after: readonly Stage[];
}

/** Undefined if an accumulator cannot take over the role of the order. */
export function eliminateSort({ by, top, at }: SortStage, grouping: GroupStage): UnsortedGroup | undefined {
  const group: GroupStage = at === undefined ? grouping : { ...grouping, sortAt: at };
  if (top !== undefined) return undefined;
  const accumulators: AccumulatorFields = group.accumulators.flatMap(([name, accumulator]) => {
    const ordered = inOrder(accumulator, by);
    return ordered === undefined ? [] : [[name, ordered] as const];
  });
  if (accumulators.length < group.accumulators.length) return undefined;
  // The sort refuses rows with two arrays among their keys, and its replacement must do so too.
  const looksAtKeys = by.length === 1 || accumulators.some(([, { fn }]) => ofRows.has(fn));
  if (looksAtKeys && hasOneForm(group.key)) return { group: { ...group, accumulators }, after: [] };
  // If keys are equal but look different (1 and 1.0), the group takes the key of its first row in the order.
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

/** The accumulators that read the sort keys of each row. */
const ofRows: ReadonlySet<string> = new Set(['top', 'bottom', 'topN', 'bottomN']);

function inOrder(accumulator: Accumulator, by: readonly SortKey[]): Accumulator | undefined {
  const { fn, distinct, arg } = accumulator;
  const { unsorted } = accumulatorOf(fn);
  if (!decomposes(accumulator) || unsorted === undefined) return undefined;
  if (typeof unsorted === 'object') return { ...accumulator, fn: unsorted.as, by };
  // Among equal values that look different, the first one in the order counts.
  if (hasOneForm(arg) || (unsorted === 'same' && distinct !== true)) return accumulator;
  return unsorted === 'tieBreak' && distinct !== true ? { ...accumulator, by } : undefined;
}

/** Whether equal values are always identical, which numbers of different types are not. */
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
