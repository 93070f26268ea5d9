/** What defines a stage of plans: its MQL syntax, and its executor. */
import type { BsonValue } from '../bson/value.ts';
import type { Frame } from '../execute/expressions/scope.ts';
import type { Budget } from '../execute/limits/budget.ts';
import type { Rows } from '../execute/row.ts';
import type { Plan, Stage } from '../plan/stage.ts';
import type { Placed } from '../plan/stage-place.ts';

/** What a running query provides to its stages. */
export interface StageContext {
  /** Memory and time; checked between chunks of rows. */
  readonly budget: Budget;
  /** For expressions that are evaluated row by row. */
  readonly frame: Frame;
  /** The rows of another plan. */
  readonly runPlan: RunPlan;
}

/** @throws QueryError for an invalid specification. */
export type ParseStage = (spec: BsonValue, name: string) => Stage | readonly Stage[];

/** For a stage that they do not know, planners assume that it reads whole rows, takes long, and runs once over all sources. */
export interface StageDefinition<Kind extends { readonly k: string }> {
  /** The names in pipelines, and the parsers of their specifications into this stage and others. Absent: only SQL has it. */
  readonly mql?: Readonly<Record<string, ParseStage>>;
  readonly run: (stage: Kind & Placed, input: Rows, context: StageContext) => Rows;
}

/**
 * How stages that combine sources get the rows of the other source. @param whole each document must have all of its fields, because the
 * rows are passed on unchanged.
 */
export type RunPlan = (plan: Plan, whole?: 'whole') => Rows;
