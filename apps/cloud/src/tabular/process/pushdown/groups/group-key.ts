/**
 * What a group's key is made of in SQL. Groups may be finer than the plan's, because partial groups with equal keys are merged: rows
 * are grouped by what the key reads (its series, a leaf, a step of time), and the executor's own expression makes the key of it.
 */
import { type BsonValue, canFail, type Expr, isTimeColumn, type Path, type TimeColumn } from '@platform/query';
import { kind } from '../../files/file-facts.ts';
import { hasCanonicalForm, haveCanonicalForm } from '../conditions/canonical-form.ts';
import type { ConditionRoom } from '../conditions/condition.ts';
import { type Decision, decisionOf, maxDecisions, truthOf } from '../conditions/decision.ts';
import { type Leaf, leafAt } from '../conditions/leaf.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import type { Sql } from '../conditions/sql.ts';
import { isOfSeries } from '../series/series-values.ts';

export interface LeafInput {
  readonly path: Path;
  readonly leaf: Leaf;
}

/** The time is only looked at in steps of so many milliseconds since 1970. */
export interface TimeInput {
  readonly column: TimeColumn;
  stepMs: number;
}

export interface KeyInputs {
  ofSeries: boolean;
  readonly leaves: LeafInput[];
  readonly times: TimeInput[];
  /** Conditions that decide. */
  readonly truths: Sql[];
}

/** How a key is made of its inputs. */
export interface KeyParts {
  readonly inputs: KeyInputs;
  /** The plan's expression, with the field `truthField(n)` in place of condition n. */
  readonly key: Expr;
}

/** No column of a row: what a query reads by this name is never grouped by here. */
export function truthField(n: number): string {
  return `truth ${n}`;
}

/** Undefined when the key reads what DuckDB cannot group by exactly. */
export function keyParts(key: Expr, room: ConditionRoom): KeyParts | undefined {
  const inputs: KeyInputs = { ofSeries: false, leaves: [], times: [], truths: [] };
  const made = collect(key, room, inputs);
  return made && { inputs, key: made };
}

/** The expression as it is worked out for a group. */
function collect(expr: Expr, room: ConditionRoom, inputs: KeyInputs): Expr | undefined {
  if (isOfSeries(expr)) {
    if (!hasCanonicalForm(expr) || (canFail(expr) && room.values.values(expr) === undefined)) return undefined;
    if (referencedFields(expr)?.length !== 0) inputs.ofSeries = true;
    return expr;
  }
  if (decisionOf(expr) !== undefined)
    return branchesOf(expr).every(isOfSeries) && haveCanonicalForm(branchesOf(expr))
      ? decided(expr, room, inputs)
      : undefined;
  if (isTruth(expr)) return withTruth(expr, room, inputs);
  if (expr.k !== 'doc') return isInput(expr, room, inputs) ? expr : undefined;
  const fields: (readonly [string, Expr])[] = [];
  for (const [name, value] of expr.fields) {
    const made = collect(value, room, inputs);
    if (made === undefined) return undefined;
    fields.push([name, made]);
  }
  return { k: 'doc', fields };
}

/** What conditions decide, with their truths in their places. */
function decided(expr: Expr, room: ConditionRoom, inputs: KeyInputs): Expr | undefined {
  const decision = innerDecision(expr);
  if (decision === undefined) return collect(expr, room, inputs);
  const when = withTruth(decision.when, room, inputs);
  if (when === undefined) return undefined;
  const [then, otherwise] = [decided(decision.then, room, inputs), decided(decision.otherwise, room, inputs)];
  return then && otherwise && { k: 'call', fn: 'agg.cond', args: [when, then, otherwise], at: '$cond' };
}

/** A condition as the field that says whether it holds; undefined where that cannot be told. */
function withTruth(when: Expr, room: ConditionRoom, inputs: KeyInputs): Expr | undefined {
  const truth = truthOf(when, room);
  if (truth === undefined || inputs.truths.length === maxDecisions) return undefined;
  return { k: 'field', path: [truthField(inputs.truths.push(truth) - 1)] };
}

/** True or false of every row, never null, and never the row's own value. */
function isTruth(expr: Expr): boolean {
  return expr.k === 'call' && /^agg\.(eq|ne|gte?|lte?|and|or|not)$/.test(expr.fn);
}

/** One that is the same for all rows of a series is a value like others. */
function innerDecision(expr: Expr): Decision | undefined {
  return isOfSeries(expr) ? undefined : decisionOf(expr);
}

function branchesOf(expr: Expr): readonly Expr[] {
  const decision = innerDecision(expr);
  return decision === undefined ? [expr] : [...branchesOf(decision.then), ...branchesOf(decision.otherwise)];
}

function isInput(expr: Expr, room: ConditionRoom, inputs: KeyInputs): boolean {
  if (expr.k === 'field') {
    const [column = '', ...below] = expr.path;
    if (isTimeColumn(column)) return below.length === 0 && withTime(column, 1, inputs);
    return column === 'data' && withLeaf(below, room, inputs);
  }
  if (expr.k !== 'call') return false;
  if (expr.fn === 'agg.ifNull') return isInputOrElse(expr.args, room, inputs);
  const stepMs = stepOf(expr.fn, expr.args.slice(1));
  const [subject] = expr.args;
  if (stepMs === undefined || subject?.k !== 'field' || subject.path.length !== 1) return false;
  const [column = ''] = subject.path;
  return isTimeColumn(column) && withTime(column, stepMs, inputs);
}

/** One input, and what is in its place where there is none: not a number, which could equal the input and look different. */
function isInputOrElse(args: readonly Expr[], room: ConditionRoom, inputs: KeyInputs): boolean {
  const [subject, ...others] = args;
  const isPlain = (arg: Expr): boolean =>
    arg.k === 'lit' && (arg.value === null || typeof arg.value === 'string' || typeof arg.value === 'boolean');
  return subject !== undefined && others.every(isPlain) && isInput(subject, room, inputs);
}

/** Of two steps of one column the shorter divides the longer, or both divide a day and one millisecond does. */
function withTime(column: TimeColumn, stepMs: number, { times }: KeyInputs): boolean {
  const known = times.find((time) => time.column === column);
  if (known === undefined) times.push({ column, stepMs });
  else known.stepMs = known.stepMs % stepMs === 0 ? stepMs : stepMs % known.stepMs === 0 ? known.stepMs : 1;
  return true;
}

/** DuckDB takes -0 for 0, and all NaN for one. */
function withLeaf(path: Path, { facts }: ConditionRoom, inputs: KeyInputs): boolean {
  const leaf = leafAt(facts, path);
  if (leaf === undefined || !leaf.isKnown || leaf.isThroughArray) return false;
  if ((leaf.kinds & (kind.object | kind.array)) !== 0) return false;
  if (leaf.facts?.number?.negativeZero === true || leaf.facts?.number?.nonFinite === true) return false;
  inputs.leaves.push({ path, leaf });
  return true;
}

const dayMs = 86_400_000;
const unitSteps: Readonly<Record<string, number>> = {
  year: dayMs,
  quarter: dayMs,
  month: dayMs,
  week: dayMs,
  day: dayMs,
  hour: 3_600_000,
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

/** In steps of how many milliseconds a function of a time looks at it, in UTC. */
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
    // Bins are counted from the year 2000 on, so only those that divide a day lie on those from 1970.
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
  return /%H/.test(format) ? 3_600_000 : dayMs;
}
