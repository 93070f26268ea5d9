/** A chain of stages over rows: the rows stream through in chunks; only sort and group hold them. */

import type { Batch } from '../bson/batch.ts';
import { fieldsRead, wholeRows } from '../plan/fields-read.ts';
import type { Stage, Stages } from '../plan/stage.ts';
import type { RunPlan, StageContext, StageDefinition } from '../stages/definition.ts';
import { stages as definitions } from '../stages/registry.ts';
import { inStage, Origin } from './error-stage.ts';
import { newFrame } from './expressions/scope.ts';
import type { Budget } from './limits/budget.ts';
import { readRows } from './read-rows.ts';
import type { Rows } from './row.ts';

export type Input = AsyncIterable<Batch> | Iterable<Batch>;

/** @param open the rows of a source that a join, union or subquery names. */
export function runStages(
  stages: readonly Stage[],
  input: Rows,
  budget: Budget,
  open: (source: string) => Input,
): Rows {
  const frame = newFrame(budget.nowMs, () => budget.check());
  const runPlan: RunPlan = (plan, whole) => {
    const read = fieldsRead(plan.stages);
    const fields = whole === 'whole' && read.passThrough ? wholeRows : read;
    return runStages(plan.stages, readRows(fields, open(plan.source), budget), budget, open);
  };
  const context = { budget, frame, runPlan };
  const origin = new Origin();
  let rows = stages.some(({ at }) => at !== undefined) ? origin.rows(input) : input;
  for (const stage of stages) {
    const given = rows;
    const gives = inStage(stage, () => runStage(stage, given, context));
    rows = stage.at === undefined ? gives : origin.through(stage, gives);
  }
  return rows;
}

function runStage<Kind extends keyof Stages>(stage: Stages[Kind] & Stage, input: Rows, context: StageContext): Rows {
  const { run }: StageDefinition<Stages[Kind]> = definitions[stage.k as Kind];
  return run(stage, input, context);
}
