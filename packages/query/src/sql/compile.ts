/**
 * A SELECT becomes stages: filter, group, filter (HAVING), sort, slice, and the columns last; with DISTINCT the columns
 * come first. A row of the answer is one flat document. Rules for its names: an alias; else the last part of a path;
 * else `_1`, `_2`, … by place. A named column replaces one of the same name that came from `*`; of two with the same
 * name the later one gets `_2`, `_3`, … appended.
 */

import { call, type Expr, field, literal } from '../plan/expr.ts';
import type { Plan, ShapeTree, SortKey, Stage } from '../plan/stage.ts';
import type { Select, SelectItem, SqlNode } from './ast.ts';
import { type Columns, columnsOf } from './columns.ts';
import { fault } from './cursor.ts';
import { exprKey, type Grouping, hasAggregate, lowerGroup, lowerRow } from './lower.ts';
import type { Tables } from './parse.ts';

type Lower = (node: SqlNode) => Expr;
type Column = readonly [name: string, value: Expr];

export function compileSelect(select: Select, tables: Tables): Plan {
  const columns = columnsOf(select.table, tables);
  const stages: Stage[] = [];
  if (select.where !== undefined) stages.push({ k: 'filter', where: lowerRow(select.where, columns) });
  const grouping = groupingOf(select, columns);
  const lower: Lower = (node) =>
    grouping === undefined ? lowerRow(node, columns) : lowerGroup(node, columns, grouping);
  // Lowering gathers the aggregates, so all expressions come before the group stage is made.
  const having = select.having === undefined ? undefined : lower(select.having);
  const listed = columnList(select, columns, lower, grouping !== undefined);
  const order = select.orderBy.map((item) => ({ ...item, expr: orderExpression(item.value, select, lower, listed) }));
  if (grouping !== undefined) stages.push(groupStage(select, columns, grouping));
  if (having !== undefined) stages.push({ k: 'filter', where: having });

  const slice: Stage[] = sliceOf(select);
  const top = slice.length > 0 && select.limit !== undefined ? { top: select.offset + select.limit } : {};
  if (select.distinct) {
    stages.push(...projection(select, listed), ...distinctStages());
    const by = order.map(
      (item): SortKey => ({ path: outputPath(item.expr, item.value, select, listed), descending: item.descending }),
    );
    if (by.length > 0) stages.push({ k: 'sort', by, ...top });
    return { source: 'readings', stages: [...stages, ...slice] };
  }
  const computed = order.filter((item) => item.expr.k !== 'field');
  if (computed.length > 0) stages.push(sortFields(order.map((item) => item.expr)));
  if (order.length > 0) {
    const by = order.map((item, index): SortKey => {
      const path = computed.length > 0 ? [sortField(index)] : item.expr.k === 'field' ? item.expr.path : [];
      return { path, descending: item.descending };
    });
    stages.push({ k: 'sort', by, ...top });
  }
  stages.push(...slice, ...projection(select, listed));
  if (computed.length > 0 && keepsAll(select)) stages.push(dropFields(order.map((_, index) => sortField(index))));
  return { source: 'readings', stages };
}

function sliceOf(select: Select): Stage[] {
  if (select.limit === undefined && select.offset === 0) return [];
  return [{ k: 'slice', skip: select.offset, ...(select.limit === undefined ? {} : { limit: select.limit }) }];
}

function groupingOf(select: Select, columns: Columns): Grouping | undefined {
  const values = select.items.flatMap((item) => (item.k === 'expression' ? [item.value] : []));
  const nodes = [...values, ...select.orderBy.map((item) => item.value), ...(select.having ? [select.having] : [])];
  if (select.groupBy.length === 0 && !nodes.some(hasAggregate)) return undefined;
  return { keys: groupKeys(select, columns).map(exprKey), aliases: select.groupBy.map((key) => key.alias), into: [] };
}

/** A key may also be the alias of a selected expression. */
function groupKeys(select: Select, columns: Columns): Expr[] {
  return select.groupBy.map(({ value }) => {
    const alias = value.k === 'column' && value.path.length === 1 ? value.path[0] : undefined;
    const item = select.items.find((each) => each.k === 'expression' && alias !== undefined && each.alias === alias);
    return lowerRow(item?.k === 'expression' ? item.value : value, columns);
  });
}

/** Null and missing are one group. */
function groupStage(select: Select, columns: Columns, grouping: Grouping): Stage {
  const keys = groupKeys(select, columns);
  const fields = keys.map((key, index): Column => [`k${index}`, call('agg.ifNull', [key, literal(null)], 'GROUP BY')]);
  const key: Expr = fields.length === 0 ? literal(null) : { k: 'doc', fields };
  return { k: 'group', key, into: grouping.into, ...(fields.length === 0 ? { always: true } : {}) };
}

function columnList(select: Select, columns: Columns, lower: Lower, grouped: boolean): Column[] {
  const taken = new Set<string>();
  return select.items.flatMap((item, index): Column[] => {
    if (item.k === 'all') {
      if (grouped) throw fault(item.at, '* cannot be selected from groups', 'list the grouped columns and aggregates');
      if (item.qualifier !== undefined && !columns.isTable(item.qualifier))
        throw fault(item.at, `unknown table ${item.qualifier}`);
      return [];
    }
    const wanted = nameOf(item, index);
    let name = wanted;
    for (let copy = 2; taken.has(name); copy++) name = `${wanted}_${copy}`;
    taken.add(name);
    return [[name, lower(item.value)]];
  });
}

function nameOf(item: SelectItem & { k: 'expression' }, index: number): string {
  if (item.alias !== undefined) return item.alias;
  if (item.value.k !== 'column') return `_${index + 1}`;
  return item.value.path.at(-1)!;
}

function keepsAll(select: Select): boolean {
  return select.items.some((item) => item.k === 'all');
}

function projection(select: Select, listed: readonly Column[]): Stage[] {
  if (select.value) {
    const [item] = select.items;
    if (select.items.length !== 1 || item?.k !== 'expression')
      throw fault(select.items[0]!.at, 'SELECT VALUE takes one expression');
    return [{ k: 'replace', with: listed[0]![1] }];
  }
  if (!keepsAll(select)) return [{ k: 'replace', with: { k: 'doc', fields: listed } }];
  return listed.length === 0 ? [] : [setFields(listed)];
}

function setFields(columns: readonly Column[]): Stage {
  const fields = columns.map(([name, value]): ShapeTree['fields'][number] => [name, { k: 'set', value }]);
  return { k: 'shape', mode: 'set', tree: { k: 'tree', fields } };
}

function dropFields(names: readonly string[]): Stage {
  return { k: 'shape', mode: 'exclude', tree: { k: 'tree', fields: names.map((name) => [name, { k: 'drop' }]) } };
}

/** Not a name that a column can have. */
function sortField(index: number): string {
  return `\u0001${index}`;
}

function sortFields(values: readonly Expr[]): Stage {
  return setFields(values.map((value, index): Column => [sortField(index), value]));
}

function distinctStages(): Stage[] {
  return [
    { k: 'group', key: field(), into: [] },
    { k: 'replace', with: field('_id') },
  ];
}

/** A place in the list, an alias, or any expression. */
function orderExpression(node: SqlNode, select: Select, lower: Lower, listed: readonly Column[]): Expr {
  if (node.k === 'literal') {
    const place = Number(
      typeof node.value === 'object' && node.value !== null && 'value' in node.value ? node.value.value : Number.NaN,
    );
    const column = keepsAll(select) ? undefined : listed[place - 1];
    if (column === undefined)
      throw fault(node.at, 'ORDER BY takes a column, an expression, or the place of a selected one');
    return column[1];
  }
  const alias = node.k === 'column' && node.path.length === 1 ? node.path[0] : undefined;
  const index = select.items.findIndex(
    (item) => item.k === 'expression' && alias !== undefined && item.alias === alias,
  );
  const item = select.items[index];
  return item?.k === 'expression' ? lower(item.value) : lower(node);
}

function outputPath(expr: Expr, node: SqlNode, select: Select, listed: readonly Column[]): readonly string[] {
  const column = listed.find(([, value]) => exprKey(value) === exprKey(expr));
  if (column !== undefined) return [column[0]];
  if (keepsAll(select) && expr.k === 'field') return expr.path;
  throw fault(node.at, 'with DISTINCT, ORDER BY takes only what is selected');
}
