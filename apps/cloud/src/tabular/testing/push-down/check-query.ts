/** One query, asked with push-down, without, and of the executor alone; and what must never be in an answer. */
import type { Batch, Plan, Scope, Stage } from '@platform/query';
import type { Tabular } from '../../tabular.ts';
import { type Answer, areSame, askExecutor, askStore, latin1, showAnswer } from './ask.ts';
import { planOf, type RandomQuery } from './random-query.ts';

export interface Subject {
  readonly tabular: Tabular;
  readonly scope: Scope;
  /** All rows in the scope, in the order in which the store reads them. */
  readonly rows: Batch;
  /** Texts of rows outside the scope. */
  readonly hidden: readonly string[];
}

/** What is wrong, in words; undefined when nothing is. */
export async function checkQuery(query: RandomQuery, subject: Subject): Promise<string | undefined> {
  const plan = planOf(query);
  const { tabular, scope, rows, hidden } = subject;
  const pushed = await askStore(tabular, plan, scope, true);
  const unpushed = await askStore(tabular, plan, scope, false);
  const both = (what: string, other: Answer, name: string): string =>
    `${what}\n  pushed: ${showAnswer(pushed)}\n  ${name}: ${showAnswer(other)}`;
  if (isLimited(plan) && pushed.k !== unpushed.k) return undefined;
  if (!areSame(pushed, unpushed, 'in order')) return both('push-down changes the answer', unpushed, 'not pushed');
  if (pushed.k === 'rows' && unpushed.k === 'rows' && pushed.scannedBytes !== unpushed.scannedBytes)
    return both('push-down changes the bytes metered', unpushed, 'not pushed');
  const text = pushed.k === 'rows' ? pushed.rows.map(latin1).join() : pushed.message;
  const leaked = hidden.find((canary) => text.includes(canary));
  if (leaked !== undefined)
    return both(`the answer holds "${leaked}", which is outside the scope`, unpushed, 'not pushed');
  const order = orderOf(plan);
  if (order === undefined) return undefined;
  const expected = await askExecutor(plan, rows);
  if (isLimited(plan) && pushed.k !== expected.k) return undefined;
  return areSame(pushed, expected, order)
    ? undefined
    : both('the executor alone answers something else', expected, 'executor');
}

/** Behind a limit nobody looks, but rows are computed in batches: whether one there fails the query is left open. */
function isLimited({ stages }: Plan): boolean {
  return stages.some((stage) => stage.k === 'slice' && stage.limit !== undefined);
}

/** Groups may come in any order: then what follows must not depend on it, or the answer is not comparable. */
function orderOf({ stages }: Plan): 'in order' | 'in any order' | undefined {
  const reordered = stages.findIndex(({ k }) => k === 'group' || k === 'sample');
  if (reordered < 0) return 'in order';
  return stages.slice(reordered + 1).every(isFree) ? 'in any order' : undefined;
}

function isFree(stage: Stage): boolean {
  if (stage.k === 'group') return stage.into.every(([, { fn }]) => fn === 'count' || fn === 'min' || fn === 'max');
  return stage.k === 'filter' || stage.k === 'shape' || stage.k === 'replace' || stage.k === 'sort';
}
