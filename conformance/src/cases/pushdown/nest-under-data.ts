/**
 * Rewrites a plan over a case's documents into one over stored rows, whose field `data` contains the document.
 *
 * Filters, sorts and the first group read the same values one name deeper. Any other stage gets the document itself, which is extracted
 * from the row before it. So a backend can still take over the head of the plan.
 */
import type { Expr, Path, Plan, Stage } from '@platform/query';

const data = 'data';

export function nestUnderData(plan: Plan): Plan {
  if (plan.source === 'none') return { ...plan, stages: plan.stages.map(withRight) };
  return { source: 'readings', stages: moved(plan.stages) };
}

function moved([stage, ...rest]: readonly Stage[]): Stage[] {
  if (stage === undefined) return [taken];
  switch (stage.k) {
    case 'filter':
      if (hasSchema(stage.where)) return [taken, ...[stage, ...rest].map(withRight)];
      return [{ ...stage, where: deeper(stage.where) }, ...moved(rest)];
    case 'sort':
      return [{ ...stage, by: stage.by.map((key) => ({ ...key, path: below(key.path) })) }, ...moved(rest)];
    case 'slice':
    case 'sample':
      return [stage, ...moved(rest)];
    case 'group': {
      const accumulators = stage.accumulators.map(([name, fold]) => {
        const by = fold.by?.map((key) => ({ ...key, path: below(key.path) }));
        return [name, { ...fold, arg: deeper(fold.arg), ...(by && { by }) }] as const;
      });
      return [{ ...stage, key: deeper(stage.key), accumulators }, ...rest.map(withRight)];
    }
    default:
      return [taken, ...[stage, ...rest].map(withRight)];
  }
}

const taken: Stage = { k: 'replace', with: { k: 'field', path: [data] } };

/** Plans inside stages read stored rows too. */
function withRight(stage: Stage): Stage {
  return stage.k === 'join' || stage.k === 'lookup' || stage.k === 'union'
    ? { ...stage, right: nestUnderData(stage.right) }
    : stage;
}

/** A schema applies to the whole document. */
function hasSchema(expr: Expr): boolean {
  return expr.k === 'call' && (expr.fn === 'match.jsonSchema' || expr.args.some(hasSchema));
}

function below(path: Path): Path {
  return [data, ...path];
}

function deeper(expr: Expr): Expr {
  switch (expr.k) {
    case 'lit':
      return expr;
    case 'field':
      return { ...expr, path: below(expr.path) };
    case 'var':
      return expr.name === 'ROOT' ? { ...expr, path: below(expr.path) } : expr;
    case 'call':
      return { ...expr, args: expr.args.map(deeper) };
    case 'doc':
      return { ...expr, fields: expr.fields.map(([name, value]) => [name, deeper(value)] as const) };
    case 'bind': {
      const args = expr.args.map(deeper);
      // The fields in the body of `match.elem` belong to an array element.
      return { ...expr, args, body: expr.fn === 'match.elem' ? expr.body : deeper(expr.body) };
    }
  }
}
