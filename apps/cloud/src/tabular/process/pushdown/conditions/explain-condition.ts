/** Explains to users why the columns of a file do not decide a condition. */
import { type Expr, isPathColumn, isTimeColumn, type Path, readingColumns } from '@platform/query';
import type { NotPushed } from '../../../tabular.ts';
import { kind } from '../../files/file-facts.ts';
import { isOfSeries } from '../series/series-values.ts';
import { type ConditionContext, conditionOf } from './condition.ts';
import { leafAt } from './leaf.ts';

/** @param at its place in the query. Undefined: the columns decide it exactly. */
export function explainCondition(expr: Expr, context: ConditionContext, at: string): NotPushed | undefined {
  const part = expr.k === 'call' || expr.k === 'bind' ? expr.at : at;
  if (isOfSeries(expr))
    return context.values.keeps(expr) === undefined ? { part, why: 'it fails for the name of a component' } : undefined;
  if (conditionOf(expr, context).exact) return undefined;
  if (expr.k === 'field') return { part, why: explainField(expr.path, context) ?? rowByRow };
  if (expr.k !== 'call') return { part, why: rowByRow };
  const name = expr.fn.replace(/^\w+\./, '');
  if (/^(and|or|nor|not|expr)$/.test(name))
    for (const arg of expr.args) {
      const found = explainCondition(arg, context, part);
      if (found !== undefined) return found;
    }
  if (name === 'regex') return { part, why: 'patterns are matched row by row, because those of DuckDB differ' };
  if (!/^(eq|ne|gte?|lte?|in|exists|type|isNull|isMissing)$/.test(name)) return { part, why: rowByRow };
  for (const arg of expr.args) {
    const inner = arg.k === 'field' ? explainField(arg.path, context) : undefined;
    if (inner !== undefined) return { part, why: inner };
    if (arg.k !== 'field' && arg.k !== 'lit') return { part: siteOf(arg, part), why: rowByRow };
  }
  const fields = expr.args.filter(({ k }) => k === 'field').length;
  return { part, why: fields > 1 ? 'it compares two fields that are not both numbers in every row' : rowByRow };
}

export const rowByRow = 'it is evaluated row by row';

export function siteOf(expr: Expr, otherwise: string): string {
  return expr.k === 'call' || expr.k === 'bind' ? expr.at : otherwise;
}

/** Why a field cannot be read from a column alone. */
export function explainField([column = '', ...below]: Path, { facts }: ConditionContext): string | undefined {
  if (isPathColumn(column) || isTimeColumn(column)) return below.length === 0 ? undefined : `${column} has no fields`;
  const name = [column, ...below].join('.');
  if (column !== 'data')
    return readingColumns.includes(column) ? `${name} is the same for all rows of a series` : `rows have no ${name}`;
  const leaf = leafAt(facts, below);
  if (leaf === undefined) return `${name} has no column: it is too deep, in an array, or one of too many fields`;
  if (leaf.isThroughArray) return `${name} passes through an array in some rows`;
  if ((leaf.kinds & kind.array) !== 0) return `${name} is an array in some rows`;
  if ((leaf.kinds & kind.object) !== 0) return `${name} is an object in some rows`;
  if (!leaf.isKnown) return `${name} has no column: too many other fields occur in more rows`;
  if (leaf.facts?.number?.negativeZero === true) return `${name} is -0 in some rows, which a column stores as 0`;
  return leaf.facts?.number?.nonFinite === true
    ? `${name} is NaN or infinite in some rows, which DuckDB orders differently`
    : undefined;
}
