/** What defines a stage of plans: how MQL writes it, and what runs it. */

import type { BsonValue } from '../bson/value.ts';
import type { Frame } from '../execute/expressions/scope.ts';
import type { Budget } from '../execute/limits/budget.ts';
import type { Row } from '../execute/row.ts';
import type { RunPlan } from '../execute/run-plan.ts';
import type { Stage } from '../plan/stage.ts';
import type { Placed } from '../plan/stage-place.ts';

/** Of the query that runs. */
export interface StageContext {
  /** Memory and time; asked between chunks of rows. */
  readonly budget: Budget;
  /** For expressions that are evaluated row by row. */
  readonly frame: Frame;
  /** The rows of another plan. */
  readonly runPlan: RunPlan;
}

/** @throws QueryError for a faulty specification. */
export type ParseStage = (spec: BsonValue) => readonly Stage[];

/**
 * Planners take a stage that they do not know for one that reads whole rows, takes long, and runs once over the rows of all sources:
 * nothing else has to be said of it.
 */
export interface StageDefinition<Kind extends { readonly k: string }> {
  /** The names in pipelines, and what parses their specifications into this stage and others. Absent: only SQL has it. */
  readonly mql?: Readonly<Record<string, ParseStage>>;
  /** Rows come and go in chunks. */
  readonly run: (stage: Kind & Placed, input: AsyncIterable<Row[]>, context: StageContext) => AsyncIterable<Row[]>;
}
