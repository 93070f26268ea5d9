/**
 * The conditions of a plan's leading filters on path columns and times, as plain data from which a backend builds a predicate. The
 * predicate keeps a superset of the rows: the executor applies the filters again.
 */
import { compareText } from '../bson/compare.ts';
import { BsonDate } from '../bson/value.ts';
import { isPathColumn, isTimeColumn, type PathColumn, pathColumns, type TimeColumn, timeColumns } from './columns.ts';
import type { Expr } from './expr.ts';
import { plansIn } from './sources-of.ts';
import type { Plan } from './stage.ts';

/** Bounds are inclusive; `in` lists the only texts that can match (an empty list: no row does, for example if bounds contradict). */
export interface TextBounds {
  readonly in?: readonly string[];
  readonly from?: string;
  readonly to?: string;
}

/** Milliseconds since 1970 UTC, inclusive. */
export interface TimeBounds {
  readonly fromMs?: number;
  readonly toMs?: number;
}

export interface PathFilter {
  readonly columns: { readonly [column in PathColumn]?: TextBounds };
  readonly times: { readonly [column in TimeColumn]?: TimeBounds };
}

/** For a plan that reads `readings` in several places: what holds for all of them. */
export function pathFilter(plan: Plan): PathFilter {
  const filters = readers(plan).map(leadingFilter);
  const [first] = filters;
  return first === undefined ? { columns: {}, times: {} } : filters.reduce(either, first);
}

/** The plan and those in its stages that read stored rows. */
function readers(plan: Plan): Plan[] {
  const inside = plansIn(plan.stages).flatMap(readers);
  return plan.source === 'none' ? inside : [plan, ...inside];
}

function either(left: PathFilter, right: PathFilter): PathFilter {
  const columns: { [column in PathColumn]?: TextBounds } = {};
  const times: { [column in TimeColumn]?: TimeBounds } = {};
  for (const name of pathColumns) {
    const [a, b] = [left.columns[name], right.columns[name]];
    if (a === undefined || b === undefined) continue;
    const same = a.from === b.from && a.to === b.to ? { ...a } : {};
    const { in: _, ...range } = same;
    columns[name] = { ...range, ...(a.in && b.in && { in: [...new Set([...a.in, ...b.in])] }) };
  }
  for (const name of timeColumns) {
    const [a, b] = [left.times[name], right.times[name]];
    if (a === undefined || b === undefined) continue;
    times[name] = {
      ...(a.fromMs !== undefined && b.fromMs !== undefined && { fromMs: Math.min(a.fromMs, b.fromMs) }),
      ...(a.toMs !== undefined && b.toMs !== undefined && { toMs: Math.max(a.toMs, b.toMs) }),
    };
  }
  return { columns, times };
}

function leadingFilter(plan: Plan): PathFilter {
  const columns: { [column in PathColumn]?: TextBounds } = {};
  const times: { [column in TimeColumn]?: TimeBounds } = {};
  for (const stage of plan.stages) {
    if (stage.k !== 'filter') break;
    for (const term of conjuncts(stage.where)) {
      const bound = boundOf(term);
      if (bound === undefined) continue;
      if (isPathColumn(bound.column)) columns[bound.column] = narrowText(columns[bound.column] ?? {}, bound);
      else if (isTimeColumn(bound.column)) times[bound.column] = narrowTime(times[bound.column] ?? {}, bound);
    }
  }
  const isContradicted =
    Object.values(columns).some(
      ({ from, to }) => from !== undefined && to !== undefined && compareText(from, to) > 0,
    ) || Object.values(times).some(({ fromMs, toMs }) => fromMs !== undefined && toMs !== undefined && fromMs > toMs);
  return isContradicted ? { columns: { ...columns, organization_id: { in: [] } }, times } : { columns, times };
}

interface Bound {
  readonly column: string;
  readonly op: string;
  readonly values: readonly unknown[];
}

const mirrored: Readonly<Record<string, string>> = { eq: 'eq', gt: 'lt', gte: 'lte', lt: 'gt', lte: 'gte' };

/** A comparison of one column with literals on either side; undefined for anything else. */
function boundOf(term: Expr): Bound | undefined {
  if (term.k !== 'call') return undefined;
  const op = term.fn.slice(term.fn.indexOf('.') + 1);
  const [left, right] = term.args;
  if (left === undefined || right === undefined) return undefined;
  if (op === 'in' && left.k === 'field' && left.path.length === 1) {
    const values = literals(term.fn === 'sql.in' ? term.args.slice(1) : [right]);
    return values && { column: left.path[0]!, op, values };
  }
  if (mirrored[op] === undefined || term.args.length !== 2) return undefined;
  if (left.k === 'field' && left.path.length === 1 && right.k === 'lit') {
    return { column: left.path[0]!, op, values: [right.value] };
  }
  if (right.k === 'field' && right.path.length === 1 && left.k === 'lit') {
    return { column: right.path[0]!, op: mirrored[op], values: [left.value] };
  }
  return undefined;
}

function literals(args: readonly Expr[]): readonly unknown[] | undefined {
  const values: unknown[] = [];
  for (const arg of args) {
    if (arg.k !== 'lit') return undefined;
    if (Array.isArray(arg.value)) values.push(...arg.value);
    else values.push(arg.value);
  }
  return values;
}

function narrowText(bounds: TextBounds, bound: Bound): TextBounds {
  const texts = bound.values.filter((value) => typeof value === 'string');
  if (texts.length !== bound.values.length) return bounds;
  if (bound.op === 'eq' || bound.op === 'in') {
    return { ...bounds, in: bounds.in === undefined ? texts : bounds.in.filter((text) => texts.includes(text)) };
  }
  const [text] = texts;
  if (text === undefined) return bounds;
  if (bound.op.startsWith('gt')) {
    return bounds.from !== undefined && compareText(bounds.from, text) > 0 ? bounds : { ...bounds, from: text };
  }
  return bounds.to !== undefined && compareText(bounds.to, text) < 0 ? bounds : { ...bounds, to: text };
}

function narrowTime(bounds: TimeBounds, bound: Bound): TimeBounds {
  const times = bound.values.filter((value) => value instanceof BsonDate).map((date) => date.ms);
  if (times.length !== bound.values.length || times.length === 0) return bounds;
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = bounds;
  const least = times.reduce((a, b) => Math.min(a, b));
  const most = times.reduce((a, b) => Math.max(a, b));
  const from = bound.op.startsWith('lt') ? fromMs : Math.max(fromMs, least);
  const to = bound.op.startsWith('gt') ? toMs : Math.min(toMs, most);
  return { ...(Number.isFinite(from) ? { fromMs: from } : {}), ...(Number.isFinite(to) ? { toMs: to } : {}) };
}

/** The parts of a condition that must all hold; none for a bare value or variable, which restricts nothing. */
export function conjuncts(where: Expr): readonly Expr[] {
  if (where.k !== 'call') return where.k === 'bind' ? [where] : [];
  if (where.fn === 'match.expr') return conjuncts(where.args[0]!);
  return /^(match|agg|sql)\.and$/.test(where.fn) ? where.args.flatMap(conjuncts) : [where];
}
