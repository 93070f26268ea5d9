/**
 * The two spellings of an API name, `core:component:sensor` and `rdk:component:sensor`, are one name wherever a query compares the stored
 * `component_type` for equality with a literal (D47): the literal gets the spelling that the rows have for the caller. Nothing else in a
 * query is changed.
 */
import type { Expr } from '../expr.ts';
import type { Plan, Stage } from '../stage.ts';

const equalities: ReadonlySet<string> = new Set([
  ...['agg.eq', 'agg.ne', 'agg.in'],
  ...['match.eq', 'match.ne', 'match.in'],
  ...['sql.eq', 'sql.ne', 'sql.in'],
]);

/** Stages after which `component_type` is still the stored one. */
const keeping: ReadonlySet<Stage['k']> = new Set(['filter', 'sort', 'slice', 'sample']);

/** Whether the expressions of the stage after this one still see stored fields. */
export function keepsFields({ k }: Stage): boolean {
  return keeping.has(k);
}

/** @param vocabulary in which the rows are shown to the caller */
export function spellApis(plan: Plan, vocabulary: 'core' | 'rdk'): Plan {
  let isStored = plan.source !== 'none';
  const stages = plan.stages.map((stage) => {
    const spelled = spelledNode(stage, isStored, vocabulary) as Stage;
    isStored &&= keepsFields(stage);
    return spelled;
  });
  return { ...plan, stages };
}

/** Plans are plain data without classes, apart from the values of literals. */
function spelledNode(node: unknown, isStored: boolean, vocabulary: 'core' | 'rdk'): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((item) => spelledNode(item, isStored, vocabulary));
  if ('k' in node && node.k === 'lit') return node;
  if ('source' in node && 'stages' in node) return spellApis(node as Plan, vocabulary);
  if (isStored && 'k' in node && node.k === 'call') {
    const call = node as Expr & { k: 'call' };
    if (equalities.has(call.fn) && call.args.some(isComponentType))
      return { ...call, args: call.args.map((arg) => spelledLiteral(arg, vocabulary)) };
  }
  // In the body, fields belong to the element.
  const isOfElement = 'fn' in node && node.fn === 'match.elem';
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      spelledNode(value, isStored && !(isOfElement && key === 'body'), vocabulary),
    ]),
  );
}

export function isComponentType(expr: Expr): boolean {
  return expr.k === 'field' && expr.path.length === 1 && expr.path[0] === 'component_type';
}

function spelledLiteral(expr: Expr, vocabulary: 'core' | 'rdk'): Expr {
  if (expr.k !== 'lit') return expr;
  const spelled = <T>(value: T): T =>
    typeof value === 'string' ? (value.replace(/^(core|rdk)(?=:)/, vocabulary) as T) : value;
  return { ...expr, value: Array.isArray(expr.value) ? expr.value.map(spelled) : spelled(expr.value) };
}
