/** Checks one query: with push-down, without it, and by the executor alone; also checks that its answer contains nothing hidden. */
import type { Batch, Scope } from '@platform/query';
import type { QueryExplain, Tabular } from '../../tabular.ts';
import { type Answer, areSame, askExecutor, askStore, latin1, showAnswer } from './ask.ts';
import { isLimited, orderOf } from './comparable.ts';
import { neededRows } from './needed-rows.ts';
import { planOf, type RandomQuery } from './random-query.ts';

export interface Subject {
  readonly tabular: Tabular;
  readonly scope: Scope;
  /** All rows in the scope, in the order in which the store reads them; undefined: too many to keep in memory. */
  readonly rows: Batch | undefined;
  /** Texts of rows outside the scope. */
  readonly hidden: readonly string[];
}

export interface Checked {
  /** Description of the problem. */
  readonly problem?: string | undefined;
  /** Explanation of the answer with push-down. */
  readonly explain?: QueryExplain | undefined;
}

/** Groups of files are kept when a query is sent for the second time, and used from the third time. */
async function askedAgain(ask: () => Promise<Answer>): Promise<Answer> {
  const first = await ask();
  if (first.k !== 'rows' || !first.explain?.sources.some(({ does }) => does === 'group')) return first;
  await ask();
  const third = await ask();
  return areSame(first, third, 'in order') && third.k === 'rows' ? { ...third, explain: first.explain } : third;
}

export async function checkQuery(query: RandomQuery, subject: Subject): Promise<Checked> {
  const plan = planOf(query);
  const { tabular, scope, rows, hidden } = subject;
  const pushed = await askedAgain(() => askStore(tabular, plan, scope, true));
  const unpushed = await askStore(tabular, plan, scope, false);
  const both = (what: string, other: Answer, name: string): string =>
    `${what}\n  ${JSON.stringify(pushed.k === 'rows' && pushed.explain?.sources)}\n  pushed: ${showAnswer(pushed)}\n  ${name}: ${showAnswer(other)}`;
  const broken = [pushed, unpushed].find((each) => each.k === 'refused' && each.code === 'internal');
  if (broken !== undefined) return { problem: both('the store itself failed', unpushed, 'not pushed') };
  const explain = pushed.k === 'rows' ? pushed.explain : undefined;
  if (isLimited(plan) && pushed.k !== unpushed.k) return { explain };
  if (!areSame(pushed, unpushed, 'in order'))
    return { problem: both('push-down changes the answer', unpushed, 'not pushed'), explain };
  if (pushed.k === 'rows' && unpushed.k === 'rows' && pushed.scannedBytes !== unpushed.scannedBytes)
    return { problem: both('push-down changes the bytes metered', unpushed, 'not pushed'), explain };
  const text = pushed.k === 'rows' ? [...pushed.rows.map(latin1), JSON.stringify(explain)].join() : pushed.message;
  const leaked = hidden.find((canary) => text.includes(canary));
  if (leaked !== undefined)
    return {
      problem: both(`the answer holds "${leaked}", which is outside the scope`, unpushed, 'not pushed'),
      explain,
    };
  const order = orderOf(plan);
  if (order === undefined || rows === undefined) return { explain };
  const expected = await askExecutor(plan, rows);
  if (isLimited(plan) && pushed.k !== expected.k) return { explain };
  if (areSame(pushed, expected, order)) return { explain };
  // Which row fails first, and at which stage, is undefined; so is whether a row fails before a later filter drops it.
  if (expected.k === 'refused' && pushed.k === 'refused' && expected.code === pushed.code) return { explain };
  if (expected.k === 'refused' && areSame(pushed, await askExecutor(plan, neededRows(plan, rows)), order))
    return { explain };
  return { problem: both('the executor alone answers something else', expected, 'executor'), explain };
}
