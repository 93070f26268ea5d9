/** Evaluates the store's explanation of a query. */
import type { Expr, Plan } from '@platform/query';
import type { QueryExplain, SourceExplain } from '../../tabular.ts';

/**
 * Whether DuckDB did more than filter by scope, path and time: conditions on readings, fields from columns, groups, or the first rows of an
 * order. Undefined if there was no sealed file.
 */
export function pushesBeyondTime(plan: Plan, { sources }: QueryExplain): boolean | undefined {
  const sealed = sources.filter(({ does }) => does !== 'hot');
  return sealed.length === 0 ? undefined : sealed.some((source) => doesMore(source, plan));
}

function doesMore({ does, pushed }: SourceExplain, { stages }: Plan): boolean {
  if (does !== 'rows' || pushed.some((each) => projections.has(each))) return true;
  const conditions = stages.flatMap((stage) => (stage.k === 'filter' ? callsIn(stage.where) : []));
  return conditions.some((each) => pushed.includes(each.at) && readsData(each));
}

const projections: ReadonlySet<string> = new Set(['$project', '$replaceWith']);

type Call = Extract<Expr, { k: 'call' }>;

function callsIn(expr: Expr): Call[] {
  return expr.k === 'call' ? [expr, ...expr.args.flatMap(callsIn)] : [];
}

function readsData(expr: Expr): boolean {
  switch (expr.k) {
    case 'field':
      return expr.path[0] === 'data';
    case 'call':
      return expr.args.some(readsData);
    case 'bind':
      return [...expr.args, expr.body].some(readsData);
    default:
      return false;
  }
}
