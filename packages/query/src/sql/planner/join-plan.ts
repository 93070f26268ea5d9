/** Joins: both sides become fields of one row. Equalities between the sides are extracted, so that rows can be looked up. */
import { type Expr, partsOf } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import type { From, SqlNode } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { kindText, maybeMissing, unfit } from '../types/kind.ts';
import { asTruth, lower, notText } from './lower.ts';
import { type Around, type Rows, wrapped } from './rows.ts';
import { resolve, type Scope } from './scope.ts';

export function compileJoin(from: From & { k: 'join' }, leftRows: Rows, rightRows: Rows, around: Around): Rows {
  const left = wrapped(leftRows);
  const right = wrapped(rightRows);
  for (const { name } of right.sources) {
    if (left.sources.some((source) => source.name === name)) {
      throw fault(from.at, `two tables are named ${name}`, `give one of them an alias: ${name} AS other`);
    }
  }
  const optional = from.how === 'left';
  const sources = [
    ...left.sources,
    ...right.sources.map((source) => (optional ? { ...source, kind: maybeMissing(source.kind) } : source)),
  ];
  const on =
    from.on === undefined ? undefined : condition(from.on, { sources, ...(around.outer && { outer: around.outer }) });
  const stage: Stage = {
    k: 'join',
    how: from.how,
    right: { source: right.source, stages: right.stages },
    equal: on === undefined ? [] : equalities(on, left, right),
    ...(on !== undefined && { on }),
  };
  const atMost = optional && left.atMost === 0 ? 0 : left.atMost * right.atMost;
  return { source: left.source, stages: [...left.stages, stage], sources, atMost: Number.isNaN(atMost) ? 0 : atMost };
}

function condition(on: SqlNode, scope: Scope): Expr {
  const given = lower(on, {
    column: (path, at) => resolve(path, at, scope),
    aggregate: (node) => {
      throw fault(node.at, `${node.fn} is not allowed in ON`, 'conditions on aggregates belong in HAVING');
    },
    subquery: (node) => {
      throw fault(node.at, 'a subquery is not allowed in ON', 'write the condition in WHERE');
    },
  });
  const { expr, kind } = asTruth(notText(given));
  if (unfit(kind, ['bool'])) throw fault(on.at, `ON takes a condition, found ${kindText(kind)}`);
  return expr;
}

/** Pairs of values, one from each side, that must be equal for the condition to hold. */
function equalities(on: Expr, left: Rows, right: Rows): [Expr, Expr][] {
  if (on.k !== 'call') return [];
  if (on.fn === 'sql.and') return on.args.flatMap((arg) => equalities(arg, left, right));
  const [a, b] = on.args;
  if (on.fn !== 'sql.eq' || a === undefined || b === undefined) return [];
  if (isOf(a, left) && isOf(b, right)) return [[a, b]];
  return isOf(b, left) && isOf(a, right) ? [[b, a]] : [];
}

function isOf(expr: Expr, side: Rows): boolean {
  const roots = rootsOf(expr);
  return (
    roots !== undefined && roots.size > 0 && [...roots].every((root) => side.sources.some(({ name }) => name === root))
  );
}

/** The first field of each path in an expression; undefined if it reads the row as a whole. */
export function rootsOf(expr: Expr): ReadonlySet<string> | undefined {
  const roots = new Set<string>();
  return gather(expr, roots) ? roots : undefined;
}

function gather(expr: Expr, into: Set<string>): boolean {
  if (expr.k === 'field') {
    const [root] = expr.path;
    if (root !== undefined) into.add(root);
    return root !== undefined;
  }
  if (expr.k === 'var') return expr.name !== 'ROOT';
  if (expr.k === 'bind' && expr.fn === 'match.elem') return false;
  return partsOf(expr).every((part) => gather(part, into));
}
