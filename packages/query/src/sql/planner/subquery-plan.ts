/** Subqueries in expressions: an earlier stage looks up the answer for each row and puts it into a field of the row. */

import { call, type Expr, field, literal } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import type { SqlNode, SqlSubquery } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { booleans, either, kindOf, maybeMissing } from '../types/kind.ts';
import { lowerCall, site } from './lower.ts';
import { type Around, hidden, type Rows } from './rows.ts';
import { fieldsOf, type Scope, type Typed } from './scope.ts';

/** The query that contains the subquery: a Block. */
interface Enclosing {
  readonly around: Around;
  readonly scope: Scope;
  /** How many fields subqueries have added to the rows. */
  lookups: number;
  add(stage: Stage): void;
  lower(node: SqlNode): Typed;
}

export function compileSubquery(node: SqlSubquery, block: Enclosing): Typed {
  const left = node.left === undefined ? undefined : block.lower(node.left);
  const captured: [string, Expr][] = [];
  const rows = block.around.compile(node.query, { ...block.around, outer: { scope: block.scope, captured } });
  const as = hidden('s', block.lookups++);
  const value = field(as);
  const add = (gives: (Stage & { k: 'lookup' })['gives'], last: Stage): void => {
    block.add({
      k: 'lookup',
      right: { source: rows.source, stages: [...rows.stages, last] },
      let: captured,
      as,
      gives,
    });
  };
  if (node.how === 'exists') {
    add('exists', { k: 'slice', skip: 0, limit: 1 });
    return { expr: value, kind: kindOf('bool') };
  }
  const column = onlyColumn(node, rows);
  const rest: Stage = { k: 'replace', with: { k: 'doc', fields: [['v', column.expr]] } };
  if (node.how === 'scalar') {
    if (rows.atMost > 1)
      throw fault(node.at, 'a subquery that is used as a value must return at most one row', 'add LIMIT 1');
    add('value', rest);
    return { expr: value, kind: either(maybeMissing(column.kind), kindOf('null')) };
  }
  add('values', rest);
  lowerCall({ fn: node.op!, at: node.at }, [left!, column]);
  const args = [left!.expr, value, literal(node.op!.slice('sql.'.length))];
  return { expr: call(node.how === 'any' ? 'sql.any' : 'sql.all', args, site(node.at)), kind: booleans };
}

function onlyColumn(node: SqlSubquery, rows: Rows): Typed {
  const [source] = rows.sources;
  const names = [...(source?.kind.fields?.keys() ?? [])];
  if (rows.sources.length !== 1 || source!.kind.open === true || names.length !== 1) {
    throw fault(node.at, 'a subquery that is used as values must return one column', 'select one column by its name');
  }
  return fieldsOf({ expr: source!.doc, kind: source!.kind }, names, node.at);
}
