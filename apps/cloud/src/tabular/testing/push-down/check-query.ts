/** One query, asked with push-down, without, and of the executor alone; and what must never be in an answer. */
import type { Batch, Scope } from '@platform/query';
import type { Tabular } from '../../tabular.ts';
import { type Answer, areSame, askExecutor, askStore, latin1, showAnswer } from './ask.ts';
import { isLimited, orderOf } from './comparable.ts';
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
