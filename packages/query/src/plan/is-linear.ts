/** Which plans do work in proportion to their size times that of their input, so that a small input means little work. */

import { functions } from '../functions/registry.ts';
import type { Accumulator } from './accumulator.ts';
import type { Expr } from './expr.ts';
import type { GroupStage, ShapeTree, Stage } from './stage.ts';

/**
 * No stage builds texts, arrays or documents out of others, so nothing can grow from stage to stage: rows are kept, ordered and folded, and
 * their fields picked. The cost is bounded by the plan's bytes times the input's.
 */
export function isLinear(stages: readonly Stage[]): boolean {
  // A second key of several fields, or a second whole row in a group, could contain the first one twice, a third the second …
  const documents = stages.reduce((sum, stage) => (stage.k === 'group' ? sum + documentsIn(stage) : sum), 0);
  return documents <= 1 && stages.every(isLinearStage);
}

function documentsIn({ key, accumulators }: GroupStage): number {
  return (key.k === 'doc' ? 1 : 0) + accumulators.filter(([, accumulator]) => isOneRow(accumulator)).length;
}

/** For example `{$first: '$$ROOT'}`. */
function isOneRow({ fn, arg }: Accumulator): boolean {
  return oneOf.has(fn) && arg.k === 'var' && arg.name === 'ROOT' && arg.path.length === 0;
}

const oneOf: ReadonlySet<string> = new Set(['first', 'last', 'top', 'bottom']);

function isLinearStage(stage: Stage): boolean {
  switch (stage.k) {
    case 'filter':
      return isSmall(stage.where);
    case 'merge':
      return stage.accumulators.every(([, { n }]) => isConstant(n));
    case 'group':
      return (
        isFlat(stage.key) &&
        stage.accumulators.every(([, each]) => (isSmall(each.arg) || isOneRow(each)) && isConstant(each.n))
      );
    case 'shape':
      return isLinearTree(stage.tree, 0);
    case 'sort':
    case 'slice':
    case 'sample':
      return true;
    case 'replace':
      return stage.with.k === 'doc' && isFlat(stage.with);
    default:
      return false;
  }
}

/** A field below an array is computed for each element, which multiplies the work. */
function isLinearTree(tree: ShapeTree, level: number): boolean {
  return tree.fields.every(([, part]) => {
    if (part.k === 'tree') return isLinearTree(part, level + 1);
    return part.k !== 'set' || (level === 0 && isSmall(part.value));
  });
}

/** A document of picked fields without nested documents: no field grows. */
function isFlat(expr: Expr): boolean {
  return expr.k === 'doc' ? expr.fields.every(([, value]) => isSmall(value)) : isSmall(expr);
}

function isSmall(expr: Expr): boolean {
  switch (expr.k) {
    case 'lit':
      return true;
    case 'field':
      return expr.path.length > 0;
    case 'var':
      return expr.name === 'NOW';
    case 'call':
      return isBounded(expr.fn) && expr.args.every(isSmall);
    case 'doc':
      return false;
    case 'bind':
      return expr.fn === 'match.elem' && expr.args.every(isSmall) && isSmall(expr.body);
  }
}

/** $match query operators return true or false. */
function isBounded(fn: string): boolean {
  return fn.startsWith('match.') || functions.get(fn)?.size === 'bounded';
}

function isConstant(expr: Expr | undefined): boolean {
  return expr === undefined || expr.k === 'lit';
}
