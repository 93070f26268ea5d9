/** The executor: the reference for the meaning of a plan. */

import type { Batch } from '../bson/batch.ts';
import { fieldsRead } from '../plan/fields-read.ts';
import { plansIn } from '../plan/sources-of.ts';
import type { Stage } from '../plan/stage.ts';
import { Budget, type Limits } from './limits/budget.ts';
import { engineLimitError } from './limits/engine-limit-error.ts';
import { readRows } from './read-rows.ts';
import { type Input, runStages } from './run-stages.ts';
import { SharedInput } from './stages/shared-input.ts';
import { writeBatches } from './write-batches.ts';

/** @throws QueryError while iterating: for a refused value, a limit, the deadline, the signal. */
export async function* execute(
  stages: readonly Stage[],
  input: Input,
  limits: Limits = {},
): AsyncGenerator<Batch, void, undefined> {
  const budget = new Budget(limits);
  try {
    // Without other sources, all parts of the plan read the same rows.
    const shared = limits.open === undefined && plansIn(stages).length > 0 ? new SharedInput(input, budget) : undefined;
    const open = (source: string): Input => (source === 'none' ? [] : (shared ?? budget.open(source)));
    const rows = readRows(fieldsRead(stages), shared ?? input, budget);
    yield* writeBatches(runStages(stages, rows, budget, open), budget, limits);
  } catch (caught) {
    throw engineLimitError(caught);
  }
}
