/**
 * What a group's key is made of in SQL. Groups may be finer than the plan's, because partial groups with equal keys are merged: rows
 * are grouped by what the key reads (its series, a leaf, a step of time), and the executor's own expression makes the key of it.
 */
import { type BsonValue, type Expr, isTimeColumn, type Path, type TimeColumn } from '@platform/query';
import { kind } from '../file-facts.ts';
import type { ConditionRoom } from './condition.ts';
import { fieldsOf } from './fields-of.ts';
import { type Leaf, leafAt } from './leaf.ts';
import { isOfSeries } from './series-values.ts';

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
}

/** Undefined when the key reads what DuckDB cannot group by exactly. */
export function keyInputs(key: Expr, room: ConditionRoom): KeyInputs | undefined {
  const inputs: KeyInputs = { ofSeries: false, leaves: [], times: [] };
  return collect(key, room, inputs) ? inputs : undefined;
}

function collect(expr: Expr, room: ConditionRoom, inputs: KeyInputs): boolean {
  if (isOfSeries(expr)) {
    if (fieldsOf(expr)?.length !== 0) inputs.ofSeries = true;
    return true;
  }
  if (expr.k === 'doc') return expr.fields.every(([, value]) => collect(value, room, inputs));
  if (expr.k === 'field') {
    const [column = '', ...below] = expr.path;
    if (isTimeColumn(column)) return below.length === 0 && withTime(column, 1, inputs);
    return column === 'data' && withLeaf(below, room, inputs);
  }
  if (expr.k !== 'call') return false;
  const stepMs = stepOf(expr.fn, expr.args.slice(1));
  const [subject] = expr.args;
  if (stepMs === undefined || subject?.k !== 'field' || subject.path.length !== 1) return false;
  const [column = ''] = subject.path;
  return isTimeColumn(column) && withTime(column, stepMs, inputs);
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
