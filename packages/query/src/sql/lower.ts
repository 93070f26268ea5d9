/** Expressions of SQL become expressions of the plan, before or after grouping. */

import { valueKey } from '../bson/key.ts';
import { Int32 } from '../bson/value.ts';
import { isTimeColumn } from '../plan/columns.ts';
import { call, type Expr, field, literal } from '../plan/expr.ts';
import type { Accumulator, AccumulatorName } from '../plan/stage.ts';
import type { SqlNode } from './ast.ts';
import type { Columns } from './columns.ts';
import { fault } from './cursor.ts';
import { foldCast } from './fold.ts';
import type { Token } from './lex.ts';

/** What a grouping statement has gathered: its keys, and the aggregates that its expressions ask for. */
export interface Grouping {
  readonly keys: readonly string[];
  /** Names that GROUP BY … AS gives to the keys, by the same index. */
  readonly aliases: readonly (string | undefined)[];
  readonly into: [string, Accumulator][];
}

export function site(at: Token): string {
  return `line ${at.line}, column ${at.column}`;
}

/** An expression over the rows of the table. */
export function lowerRow(node: SqlNode, columns: Columns): Expr {
  switch (node.k) {
    case 'literal':
      return literal(node.value);
    case 'column':
      return columns.resolve(node.path, node.at);
    case 'aggregate':
      throw fault(node.at, `${node.fn} is not allowed here`, 'conditions on aggregates belong into HAVING');
    case 'document':
      return { k: 'doc', fields: node.fields.map(([name, value]) => [name, lowerRow(value, columns)]) };
    case 'call':
      return lowered(
        node,
        node.args.map((arg) => lowerRow(arg, columns)),
      );
  }
}

/** An expression over the groups: keys and aggregates are fields of the grouped row. */
export function lowerGroup(node: SqlNode, columns: Columns, grouping: Grouping): Expr {
  if (!hasAggregate(node)) {
    const alias = node.k === 'column' && node.path.length === 1 ? grouping.aliases.indexOf(node.path[0]) : -1;
    if (alias >= 0) return field('_id', `k${alias}`);
    const row = lowerRow(node, columns);
    const index = grouping.keys.indexOf(exprKey(row));
    if (index >= 0) return field('_id', `k${index}`);
  }
  const below = (arg: SqlNode): Expr => lowerGroup(arg, columns, grouping);
  switch (node.k) {
    case 'literal':
      return literal(node.value);
    case 'column':
      throw fault(
        node.at,
        `the column ${node.path.join('.')} is neither grouped nor aggregated`,
        'add it to GROUP BY or wrap it, e.g. in MAX',
      );
    case 'aggregate':
      return aggregated(node, columns, grouping);
    case 'document':
      return { k: 'doc', fields: node.fields.map(([name, value]) => [name, below(value)]) };
    case 'call':
      return lowered(node, node.args.map(below));
  }
}

function lowered(node: SqlNode & { k: 'call' }, args: readonly Expr[]): Expr {
  if (node.fn === 'now') return { k: 'var', name: 'NOW', path: [] };
  refuseTextForTime(node, args);
  return foldCast(call(node.fn, args, site(node.at)));
}

/** A string never equals a time, so that the comparison would quietly find nothing, or everything. */
function refuseTextForTime(node: SqlNode & { k: 'call' }, args: readonly Expr[]): void {
  if (!/^sql\.(eq|ne|gt|gte|lt|lte|in)$/.test(node.fn)) return;
  const time = args.find((arg) => arg.k === 'field' && arg.path.length === 1 && isTimeColumn(arg.path[0]!));
  const text = args.find((arg) => arg.k === 'lit' && typeof arg.value === 'string');
  if (time?.k !== 'field' || text?.k !== 'lit') return;
  throw fault(
    node.at,
    `${time.path[0]} is a timestamp and is compared with a string`,
    `write CAST('${text.value}' AS TIMESTAMP)`,
  );
}

const accumulators: Readonly<Record<string, AccumulatorName>> = {
  COUNT: 'sql.count',
  SUM: 'sql.sum',
  AVG: 'avg',
  MIN: 'min',
  MAX: 'max',
  FIRST: 'first',
  LAST: 'last',
  ADD_TO_ARRAY: 'push',
  ADD_TO_SET: 'addToSet',
};

function aggregated(node: SqlNode & { k: 'aggregate' }, columns: Columns, grouping: Grouping): Expr {
  const arg = node.arg === undefined ? literal(new Int32(1)) : lowerRow(node.arg, columns);
  const wanted: Accumulator = { fn: accumulators[node.fn]!, arg, ...(node.distinct ? { distinct: true } : {}) };
  const same = grouping.into.find(
    ([, each]) => each.fn === wanted.fn && each.distinct === wanted.distinct && exprKey(each.arg) === exprKey(arg),
  );
  if (same !== undefined) return field(same[0]);
  const name = `a${grouping.into.length}`;
  grouping.into.push([name, wanted]);
  return field(name);
}

export function hasAggregate(node: SqlNode): boolean {
  if (node.k === 'aggregate') return true;
  if (node.k === 'call') return node.args.some(hasAggregate);
  return node.k === 'document' && node.fields.some(([, value]) => hasAggregate(value));
}

/** Equal for expressions that mean the same, wherever they stand in the text. */
export function exprKey(expr: Expr): string {
  switch (expr.k) {
    case 'lit':
      return `l${valueKey(expr.value)}`;
    case 'field':
      return `f${JSON.stringify(expr.path)}`;
    case 'var':
      return `v${JSON.stringify([expr.name, expr.path])}`;
    case 'call':
      return `${expr.fn}(${expr.args.map(exprKey).join()})`;
    case 'doc':
      return `{${expr.fields.map(([name, value]) => `${JSON.stringify(name)}:${exprKey(value)}`).join()}}`;
    case 'bind':
      return `${expr.fn}[${expr.vars.join()}](${expr.args.map(exprKey).join()};${exprKey(expr.body)})`;
  }
}
