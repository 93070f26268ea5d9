/**
 * The SQL inputs of a group's key. Groups may be finer than the plan's, because partial groups with equal keys are merged. Rows are grouped
 * by what the key reads (its series, a leaf, a step of time), and the executor's expression computes the key from these inputs.
 */

import { dayMs, hourMs } from '@platform/base';
import { type BsonValue, canFail, type Expr, isTimeColumn, type Path, type TimeColumn } from '@platform/query';
import { kind } from '../../files/file-facts.ts';
import { allOf } from '../all-of.ts';
import { hasCanonicalForm, haveCanonicalForm } from '../conditions/canonical-form.ts';
import type { ConditionContext } from '../conditions/condition.ts';
import { type Decision, decisionOf, maxDecisions, truthOf } from '../conditions/decision.ts';
import { type Leaf, leafAt } from '../conditions/leaf.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import type { Sql } from '../conditions/sql.ts';
import { isOfSeries } from '../series/series-values.ts';

export interface LeafInput {
  readonly path: Path;
  readonly leaf: Leaf;
}

/** The key depends on the time only in steps of this many milliseconds since 1970. */
export interface TimeInput {
  readonly column: TimeColumn;
  stepMs: number;
}

export interface KeyInputs {
  ofSeries: boolean;
  readonly leaves: LeafInput[];
  readonly times: TimeInput[];
  /** Conditions that choose between values. */
  readonly truths: Sql[];
}

/** How a key is computed from its inputs. */
export interface KeyParts {
  readonly inputs: KeyInputs;
  /** The plan's expression, with condition n replaced by the field `truthField(n)`. */
  readonly key: Expr;
}

/** Name of a field that no row has; a key that reads such a field is never grouped here. */
export function truthField(n: number): string {
  return `truth ${n}`;
}

/** Undefined when the key reads something that DuckDB cannot group by exactly. */
export function keyParts(key: Expr, context: ConditionContext): KeyParts | undefined {
  const inputs: KeyInputs = { ofSeries: false, leaves: [], times: [], truths: [] };
  const made = collect(key, context, inputs);
  return made && { inputs, key: made };
}

/** Collects the inputs; returns the expression to evaluate for a group. */
function collect(expr: Expr, context: ConditionContext, inputs: KeyInputs): Expr | undefined {
  if (isOfSeries(expr)) {
    if (!hasCanonicalForm(expr) || (canFail(expr) && context.values.values(expr) === undefined)) return undefined;
    if (referencedFields(expr)?.length !== 0) inputs.ofSeries = true;
    return expr;
  }
  if (decisionOf(expr) !== undefined)
    return branchesOf(expr).every(isOfSeries) && haveCanonicalForm(branchesOf(expr))
      ? decided(expr, context, inputs)
      : undefined;
  if (isTruth(expr)) return withTruth(expr, context, inputs);
  if (expr.k !== 'doc') return isInput(expr, context, inputs) ? expr : undefined;
  const made = allOf(expr.fields, ([, value]) => collect(value, context, inputs));
  return made && { k: 'doc', fields: expr.fields.map(([name], index) => [name, made[index] as Expr]) };
}

/** A decision with its conditions replaced by fields. */
function decided(expr: Expr, context: ConditionContext, inputs: KeyInputs): Expr | undefined {
  const decision = innerDecision(expr);
  if (decision === undefined) return collect(expr, context, inputs);
  const when = withTruth(decision.when, context, inputs);
  if (when === undefined) return undefined;
  const [then, otherwise] = [decided(decision.then, context, inputs), decided(decision.otherwise, context, inputs)];
  return then && otherwise && { k: 'call', fn: 'agg.cond', args: [when, then, otherwise], at: '$cond' };
}

/** Replaces a condition by the field that tells whether it holds; undefined if that is unknown. */
function withTruth(when: Expr, context: ConditionContext, inputs: KeyInputs): Expr | undefined {
  const truth = truthOf(when, context);
  if (truth === undefined || inputs.truths.length === maxDecisions) return undefined;
  return { k: 'field', path: [truthField(inputs.truths.push(truth) - 1)] };
}

/** Whether it is true or false for every row, never null, and never the row's own value. */
function isTruth(expr: Expr): boolean {
  return expr.k === 'call' && /^agg\.(eq|ne|gte?|lte?|and|or|not)$/.test(expr.fn);
}

/** A decision that is constant within a series is treated like any other value. */
function innerDecision(expr: Expr): Decision | undefined {
  return isOfSeries(expr) ? undefined : decisionOf(expr);
}

function branchesOf(expr: Expr): readonly Expr[] {
  const decision = innerDecision(expr);
  return decision === undefined ? [expr] : [...branchesOf(decision.then), ...branchesOf(decision.otherwise)];
}

function isInput(expr: Expr, context: ConditionContext, inputs: KeyInputs): boolean {
  if (expr.k === 'field') {
    const [column = '', ...below] = expr.path;
    if (isTimeColumn(column)) return below.length === 0 && withTime(column, 1, inputs);
    return column === 'data' && withLeaf(below, context, inputs);
  }
  if (expr.k !== 'call') return false;
  if (expr.fn === 'agg.ifNull') return isInputOrElse(expr.args, context, inputs);
  const stepMs = stepOf(expr.fn, expr.args.slice(1));
  const [subject] = expr.args;
  if (stepMs === undefined || subject?.k !== 'field' || subject.path.length !== 1) return false;
  const [column = ''] = subject.path;
  return isTimeColumn(column) && withTime(column, stepMs, inputs);
}

/** One input and its replacement when it is null. The replacement must not be a number, which could equal the input but look different. */
function isInputOrElse(args: readonly Expr[], context: ConditionContext, inputs: KeyInputs): boolean {
  const [subject, ...others] = args;
  const isPlain = (arg: Expr): boolean =>
    arg.k === 'lit' && (arg.value === null || typeof arg.value === 'string' || typeof arg.value === 'boolean');
  return subject !== undefined && others.every(isPlain) && isInput(subject, context, inputs);
}

/** Combines two steps of one column: the shorter if it divides the longer, otherwise one millisecond. */
function withTime(column: TimeColumn, stepMs: number, { times }: KeyInputs): boolean {
  const known = times.find((time) => time.column === column);
  if (known === undefined) times.push({ column, stepMs });
  else known.stepMs = known.stepMs % stepMs === 0 ? stepMs : stepMs % known.stepMs === 0 ? known.stepMs : 1;
  return true;
}

/** DuckDB equates -0 with 0, and all NaN values with each other. */
function withLeaf(path: Path, { facts }: ConditionContext, inputs: KeyInputs): boolean {
  const leaf = leafAt(facts, path);
  if (leaf === undefined || !leaf.isKnown || leaf.isThroughArray) return false;
  if ((leaf.kinds & (kind.object | kind.array)) !== 0) return false;
  if (leaf.facts?.number?.negativeZero === true || leaf.facts?.number?.nonFinite === true) return false;
  inputs.leaves.push({ path, leaf });
  return true;
}

const unitSteps: Readonly<Record<string, number>> = {
  year: dayMs,
  quarter: dayMs,
  month: dayMs,
  week: dayMs,
  day: dayMs,
  hour: hourMs,
  minute: 60_000,
  second: 1_000,
};
const partSteps: Readonly<Record<string, number>> = {
  ...unitSteps,
  dayOfMonth: dayMs,
  dayOfWeek: dayMs,
  dayOfYear: dayMs,
  isoDayOfWeek: dayMs,
  isoWeek: dayMs,
  isoWeekYear: dayMs,
};

/** The step in milliseconds, in UTC, on which a function of a time depends. */
function stepOf(fn: string, args: readonly Expr[]): number | undefined {
  const literals: (BsonValue | undefined)[] = [];
  for (const arg of args) {
    if (arg.k !== 'lit') return undefined;
    literals.push(arg.value);
  }
  const name = fn.replace(/^(agg|sql)\./, '');
  if (name === 'dateTrunc') {
    const [unit, size, zone] = literals;
    if (!isUtc(zone) || typeof unit !== 'string') return undefined;
    const step = unitSteps[unit];
    const stepMs = step === undefined ? undefined : step * sizeOf(size);
    // Bins are counted from the year 2000, so only bins that divide a day align with steps from 1970.
    return stepMs !== undefined && dayMs % stepMs === 0 ? stepMs : step;
  }
  if (name === 'dateToString') {
    const [zone, format] = literals;
    return isUtc(zone) && typeof format === 'string' ? stepOfFormat(format) : undefined;
  }
  return literals.every(isUtc) ? partSteps[name] : undefined;
}

function isUtc(zone: BsonValue | undefined): boolean {
  return zone === 'UTC' || zone === 'GMT' || zone === 'Z';
}

function sizeOf(value: BsonValue | undefined): number {
  const size = typeof value === 'object' && value !== null && 'value' in value ? Number(value.value) : Number(value);
  return Number.isInteger(size) && size > 0 ? size : 1;
}

function stepOfFormat(format: string): number {
  if (/%[^YmdHMSjuUVGZz%]/.test(format)) return 1;
  if (/%S/.test(format)) return 1_000;
  if (/%M/.test(format)) return 60_000;
  return /%H/.test(format) ? hourMs : dayMs;
}
