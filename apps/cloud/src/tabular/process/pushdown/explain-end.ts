/** Explains to users why a file does not group, sort or project: why its columns cannot give the executor's result. */
import {
  type Accumulator,
  canFail,
  type Expr,
  type GroupStage,
  type Path,
  type PlanSplit,
  type RowStage,
  type SortStage,
} from '@platform/query';
import type { NotPushed } from '../../tabular.ts';
import { hasCanonicalForm } from './conditions/canonical-form.ts';
import type { ConditionContext } from './conditions/condition.ts';
import { decisionOf } from './conditions/decision.ts';
import { explainCondition, explainField, rowByRow, siteOf } from './conditions/explain-condition.ts';
import type { Cells } from './groups/group-cells.ts';
import { keyParts } from './groups/group-key.ts';
import { stateColumns } from './groups/group-states.ts';
import { isOfSeries } from './series/series-values.ts';

/** @param isFiltered whether SQL decides all conditions before the end */
export function explainEnd(
  end: PlanSplit['end'],
  context: ConditionContext,
  isFiltered: boolean,
): readonly NotPushed[] {
  if (end === 'rows') return [];
  const part = endName(end);
  if (!isFiltered) return [{ part, why: 'a condition before it is left to the executor' }];
  if (end.k === 'group') return explainGroup(end, context);
  return [end.k === 'sort' ? { part, why: explainSort(end, context) } : explainRows(end, context)];
}

export function endName(end: Exclude<PlanSplit['end'], 'rows'>): string {
  return end.at?.stageName ?? (end.k === 'group' ? '$group' : end.k === 'sort' ? '$sort' : '$project');
}

function explainGroup(stage: GroupStage, context: ConditionContext): readonly NotPushed[] {
  const name = endName(stage);
  const key = explainKey(stage.key, context, name);
  if (key !== undefined) return [key];
  const cells: Cells = { sql: [], sums: [], ofSeries: false, decisions: 0, lists: [] };
  return stage.accumulators.flatMap(([field, accumulator]): NotPushed[] => {
    if (stateColumns(accumulator, context, cells) !== undefined) return [];
    // Fields of a SQL statement do not have names.
    const part = stage.at === undefined ? name : `${name}.${field}`;
    return [explainAccumulator(accumulator, context, part)];
  });
}

function explainKey(expr: Expr, context: ConditionContext, at: string): NotPushed | undefined {
  if (keyParts(expr, context) !== undefined) return undefined;
  const hasForms = expr.k !== 'doc' && isOfSeries(expr) && !hasCanonicalForm(expr);
  if (hasForms) return { part: siteOf(expr, at), why: lookDifferent };
  if (expr.k === 'field') return { part: at, why: explainField(expr.path, context) ?? rowByRow };
  const part = siteOf(expr, at);
  const decision = isOfSeries(expr) ? undefined : decisionOf(expr);
  const parts = expr.k === 'doc' ? expr.fields.map(([, value]) => value) : expr.k === 'call' ? expr.args : [];
  const conditions = decision === undefined ? undefined : explainCondition(decision.when, context, part);
  if (conditions !== undefined) return conditions;
  for (const inner of parts) {
    const found = inner.k === 'lit' ? undefined : explainKey(inner, context, part);
    if (found !== undefined) return found;
  }
  return { part, why: decision === undefined ? rowByRow : lookDifferent };
}

const lookDifferent = 'its values could be equal but look different, such as 1 and 1.0';

function explainAccumulator({ fn, arg, by }: Accumulator, context: ConditionContext, part: string): NotPushed {
  if (by !== undefined || /^(first|last|minN|maxN)/.test(fn)) {
    if (canFail(arg)) return { part: siteOf(arg, part), why: 'it can fail for a row, even an unused one' };
    return { part, why: 'it depends on the order of rows, unlike other fields of the group' };
  }
  const decision = isOfSeries(arg) ? undefined : decisionOf(arg);
  if (decision !== undefined)
    return explainCondition(decision.when, context, part) ?? { part: siteOf(arg, part), why: rowByRow };
  if (arg.k !== 'field') return { part: siteOf(arg, part), why: isOfSeries(arg) ? mixed : rowByRow };
  const field = explainField(arg.path, context);
  return { part, why: field ?? 'DuckDB would lose digits of the sum' };
}

const mixed = 'its values are numbers of several types';

function explainSort({ by, top }: SortStage & { readonly top: number }, context: ConditionContext): string {
  if (top > 1_000) return 'more than 1,000 rows are kept';
  const fields = by.map(({ path }: { readonly path: Path }) => explainField(path, context));
  return fields.find((why) => why !== undefined) ?? rowByRow;
}

function explainRows(stage: RowStage, context: ConditionContext): NotPushed {
  const part = endName(stage);
  for (const value of valuesIn(stage)) {
    if (value.k === 'field') {
      const why = explainField(value.path, context);
      if (why !== undefined && value.path[0] === 'data') return { part, why };
    } else if (value.k !== 'lit' && !isOfSeries(value)) return { part: siteOf(value, part), why: rowByRow };
  }
  return { part, why: 'some of its fields do not have columns in every row' };
}

function valuesIn(stage: RowStage): readonly Expr[] {
  const ofExpr = (expr: Expr): readonly Expr[] =>
    expr.k === 'doc' ? expr.fields.flatMap(([, value]) => ofExpr(value)) : [expr];
  if (stage.k === 'replace') return ofExpr(stage.with);
  const ofTree = ({ fields }: typeof stage.tree, above: Path): readonly Expr[] =>
    fields.flatMap(([name, part]): readonly Expr[] => {
      if (part.k === 'tree') return ofTree(part, [...above, name]);
      if (part.k === 'set') return ofExpr(part.value);
      return [{ k: 'field', path: [...above, name] }];
    });
  return ofTree(stage.tree, []);
}
