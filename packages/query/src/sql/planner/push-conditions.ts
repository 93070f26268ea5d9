/** Moves conditions to the table that they concern, before joins, so that fewer rows are joined and backends see the conditions. */

import { call, type Expr } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { rootsOf } from './join-plan.ts';

/** The stages followed by a filter, or with its terms where their tables are read. */
export function filtered(stages: readonly Stage[], where: Expr): Stage[] {
  const last = stages.at(-1);
  if (last?.k !== 'join' && wrappedName(last) === undefined) return [...stages, { k: 'filter', where }];
  const terms = where.k === 'call' && where.fn === 'sql.and' ? where.args : [where];
  let placed = stages;
  const stay: Expr[] = [];
  for (const term of terms) {
    const moved = neverFails(term) ? place(placed, term) : undefined;
    if (moved === undefined) stay.push(term);
    else placed = moved;
  }
  if (stay.length === 0) return [...placed];
  const rest = stay.length === 1 ? stay[0]! : call('sql.and', stay, where.k === 'call' ? where.at : '');
  return [...placed, { k: 'filter', where: rest }];
}

/** Undefined if the condition must stay after the stages. */
function place(stages: readonly Stage[], where: Expr): Stage[] | undefined {
  const last = stages.at(-1);
  const before = stages.slice(0, -1);
  const roots = rootsOf(where);
  if (roots === undefined || roots.size === 0) return undefined;
  const name = wrappedName(last);
  if (name !== undefined) {
    if (roots.size > 1 || !roots.has(name)) return undefined;
    const inner = unwrapped(where);
    return [...(place(before, inner) ?? [...before, { k: 'filter', where: inner }]), last!];
  }
  if (last?.k !== 'join') return undefined;
  if (isWithin(roots, namesOf(before))) {
    const moved = place(before, where);
    return moved && [...moved, last];
  }
  if (last.how === 'left' || !isWithin(roots, namesOf(last.right.stages))) return undefined;
  const right = place(last.right.stages, where);
  return right && [...before, { ...last, right: { ...last.right, stages: right } }];
}

/** The name of the only table, which the stage puts below a field of the row. */
function wrappedName(stage: Stage | undefined): string | undefined {
  if (stage?.k !== 'replace' || stage.with.k !== 'doc' || stage.with.fields.length !== 1) return undefined;
  const [[name, value]] = stage.with.fields as [readonly [string, Expr]];
  return value.k === 'field' && value.path.length === 0 ? name : undefined;
}

function namesOf(stages: readonly Stage[]): readonly string[] {
  const last = stages.at(-1);
  if (last?.k === 'join') return [...namesOf(stages.slice(0, -1)), ...namesOf(last.right.stages)];
  const name = wrappedName(last);
  return name === undefined ? [] : [name];
}

function isWithin(roots: ReadonlySet<string>, names: readonly string[]): boolean {
  return [...roots].every((root) => names.includes(root));
}

/** The condition must not fail over rows that a join would have dropped either. */
function neverFails(expr: Expr): boolean {
  if (expr.k !== 'call') return expr.k === 'field' || expr.k === 'lit' || expr.k === 'var';
  if (/^sql\.(and|or|not)$/.test(expr.fn)) return expr.args.every((arg) => arg.k === 'call' && neverFails(arg));
  return /^sql\.(eq|ne|gt|gte|lt|lte|in|isNull|isMissing|isType)$/.test(expr.fn) && expr.args.every(neverFails);
}

/** Paths without their first name. */
function unwrapped(expr: Expr): Expr {
  switch (expr.k) {
    case 'field':
      return { ...expr, path: expr.path.slice(1) };
    case 'call':
      return { ...expr, args: expr.args.map(unwrapped) };
    case 'doc':
      return { ...expr, fields: expr.fields.map(([name, value]) => [name, unwrapped(value)]) };
    case 'bind':
      return { ...expr, args: expr.args.map(unwrapped), body: unwrapped(expr.body) };
    case 'lit':
    case 'var':
      return expr;
  }
}
