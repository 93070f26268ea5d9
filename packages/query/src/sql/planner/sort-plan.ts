/** ORDER BY: a position in the list, a column of the answer, a column of the tables, or any expression. */

import { Int32 } from '../../bson/value.ts';
import type { Expr } from '../../plan/expr.ts';
import type { SortKey } from '../../plan/sort-key.ts';
import type { Stage } from '../../plan/stage.ts';
import { type OrderItem, partsOf, type Select, type SqlNode } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { literalText } from '../parser/dialect-hints.ts';
import { isMixed, kindText } from '../types/kind.ts';
import type { Block } from './block.ts';
import { dropFields, hidden, setFields } from './rows.ts';
import { exprKey, fieldsOf, type Typed } from './scope.ts';
import type { Projection } from './select-list.ts';

export interface Sort {
  readonly stages: readonly Stage[];
  /** Removes the fields that the stages added, if nothing else rebuilds the rows. */
  readonly clean: readonly Stage[];
}

export function sortStages(select: Select, block: Block, projection: Projection, top: { top?: number }): Sort {
  if (select.orderBy.length === 0) return { stages: [], clean: [] };
  const before = block.stages.length;
  const keys = select.orderBy.map((item) => {
    const { expr, kind } = orderOf(item, select, block, projection);
    if (isMixed(kind)) {
      throw fault(
        item.value.at,
        `values of types that do not compare cannot be ordered: ${kindText(kind)}`,
        'cast them',
      );
    }
    return { ...item, expr };
  });
  if (select.distinct) {
    if (block.stages.length > before) throw fault(select.at, 'with DISTINCT, ORDER BY does not accept subqueries');
    const by = keys.map((key): SortKey => ({ path: selectedPath(key, projection), descending: key.descending }));
    return { stages: [{ k: 'sort', by, ...top }], clean: [] };
  }
  if (keys.every(({ expr }) => expr.k === 'field')) {
    const by = keys.map(({ expr, descending }): SortKey => ({ path: expr.k === 'field' ? expr.path : [], descending }));
    return { stages: [{ k: 'sort', by, ...top }], clean: [] };
  }
  const names = keys.map((_, index) => hidden('o', index));
  const by = keys.map(({ descending }, index): SortKey => ({ path: [names[index]!], descending }));
  const added = setFields(keys.map(({ expr }, index) => [names[index]!, expr]));
  return { stages: [added, { k: 'sort', by, ...top }], clean: [dropFields(names)] };
}

function orderOf({ value: node }: OrderItem, select: Select, block: Block, projection: Projection): Typed {
  if (node.k === 'literal') {
    const place = node.value instanceof Int32 ? projection.places[node.value.value - 1] : undefined;
    if (place === undefined || select.value) {
      const found = select.value ? 'a constant' : `${literalText(node.value)} of ${projection.places.length} selected`;
      throw fault(
        node.at,
        `ORDER BY expects a column, an expression, or the position of a selected column, found ${found}`,
      );
    }
    return place;
  }
  refuseComplex(node);
  const column = node.k === 'column' ? projection.columns.get(node.path[0]!) : undefined;
  if (node.k === 'column' && column !== undefined && !isTable(node.path, block)) {
    return fieldsOf(column, node.path.slice(1), node.at);
  }
  return block.lower(node);
}

/** Refuses fields of values that are not columns, and constants, which order nothing. */
function refuseComplex(node: SqlNode): void {
  if (node.k === 'access') throw fault(node.at, 'ORDER BY takes fields of columns only', 'order by a path such as a.b');
  if (isConstant(node)) throw fault(node.at, 'ORDER BY expects a column, found a constant', 'order by a column');
}

function isConstant(node: SqlNode): boolean {
  return node.k !== 'column' && node.k !== 'aggregate' && node.k !== 'subquery' && partsOf(node).every(isConstant);
}

function isTable(path: readonly string[], block: Block): boolean {
  return path.length > 1 && block.scope.sources.some(({ name }) => name === path[0]);
}

/** The path of a selected value in the rows of the answer. */
function selectedPath({ expr, value }: OrderItem & { expr: Expr }, projection: Projection): readonly string[] {
  if (projection.stages.length === 0 && expr.k === 'field') return expr.path;
  const key = exprKey(expr);
  for (const [name, column] of projection.columns) {
    const base = projection.sources.find((source) => source.name === '')!.doc;
    const path = base.k === 'field' ? base.path : [];
    if (exprKey(column.expr) === key) return [...path, name];
    const { expr: own } = column;
    const isBelow =
      own.k === 'field' && expr.k === 'field' && own.path.every((each, index) => expr.path[index] === each);
    if (isBelow) return [...path, name, ...expr.path.slice(own.path.length)];
  }
  throw fault(value.at, 'with DISTINCT, ORDER BY accepts only selected columns');
}
