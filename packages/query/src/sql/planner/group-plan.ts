/** GROUP BY, AGGREGATE, and the aggregates used in the other clauses. */

import { Int32 } from '../../bson/value.ts';
import type { Accumulator } from '../../plan/accumulator.ts';
import { call, type Expr, field, literal } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { sqlAggregates } from '../functions.ts';
import { expressionsOf, type Select, type SqlAggregate, type SqlNode } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { aggregateText } from '../parser/dialect-hints.ts';
import { aggregatesIn } from '../parser/statement.ts';
import { documentKind, isMixed, type Kind, kindOf, kindText, unfit } from '../types/kind.ts';
import { Block } from './block.ts';
import { notText } from './lower.ts';
import { exprKey, find, resolve, type Source, type Typed } from './scope.ts';

interface Column {
  /** The table of the column; '' for columns with a name of their own. */
  readonly table: string;
  readonly name: string;
  readonly value: Typed;
}

interface Key extends Column {
  readonly key: string;
}

/** The block of the grouped rows; undefined if nothing is grouped. */
export function grouped(select: Select, before: Block): Block | undefined {
  const { having, orderBy } = select;
  const values = orderBy.map(({ value }) => value);
  const asked = aggregatesIn([...expressionsOf(select.items), ...(having ? [having] : []), ...values]);
  if (select.groupBy === undefined && select.aggregates.length === 0 && asked.length === 0) return undefined;
  const [other] = select.aggregates.length > 0 ? asked : [];
  if (other !== undefined) {
    const hint = `write ${aggregateText(other)} AS … after AGGREGATE, too`;
    throw fault(other.at, 'aggregates are allowed after AGGREGATE or in the other clauses, not in both', hint);
  }
  const keys = keysOf(select, before);
  const accumulators: (readonly [string, Accumulator])[] = [];
  const lowered = new Map<string, Typed>();
  // Later clauses ask for the same nodes again, when a subquery in them can no longer add a stage before the groups.
  const folded = new Map<SqlAggregate, Typed>();
  const fold = (node: SqlAggregate): Typed => {
    const value = folded.get(node) ?? foldNew(node);
    folded.set(node, value);
    return value;
  };
  const foldNew = (node: SqlAggregate): Typed => {
    const { accumulator, kind } = accumulatorOf(node, before);
    const id = `${accumulator.fn} ${accumulator.distinct} ${exprKey(accumulator.arg)}`;
    const known = lowered.get(id);
    if (known !== undefined) return known;
    const name = `a${accumulators.length}`;
    accumulators.push([name, accumulator]);
    const value = { expr: field(name), kind };
    lowered.set(id, value);
    return value;
  };
  const named = select.aggregates.map(({ value, alias }): Column => ({ table: '', name: alias, value: fold(value) }));
  const generated = new Set(asked.map(fold));
  const shown = [...generated].map((value, index): Column => ({ table: '', name: `_agg${index + 1}`, value }));
  const columns = [...keys, ...named, ...(select.items.some((item) => item.k === 'all') ? shown : [])];
  for (const [index, { table, name }] of columns.entries()) {
    const same = columns.findIndex((other) => other.table === table && other.name === name);
    if (same < index)
      throw fault(select.at, `two columns of the groups are named ${name}`, 'give them different aliases');
  }
  const constant = keys.every(({ value }) => value.expr.k === 'lit');
  const fields = (constant ? [] : keys).map(({ key: _, value }, index): [string, Expr] => [
    `k${index}`,
    nullable(value.expr),
  ]);
  const key: Expr = fields.length === 0 ? literal(null) : { k: 'doc', fields };
  before.add({ k: 'group', key, accumulators });
  const after = columns.map((column, index) =>
    index < keys.length && !constant
      ? { ...column, value: { ...column.value, expr: field('_id', `k${index}`) } }
      : column,
  );
  return afterGroup(select, before, keys, sourcesOf(after), fold);
}

/** A number in GROUP BY that other dialects read as the position of a selected column. */
function ordinalIn(select: Select): number | undefined {
  for (const { value } of select.groupBy ?? []) {
    if (value.k === 'literal' && value.value instanceof Int32) return value.value.value;
  }
  return undefined;
}

function afterGroup(
  select: Select,
  before: Block,
  keys: readonly Key[],
  sources: readonly Source[],
  fold: (node: SqlAggregate) => Typed,
): Block {
  const byKey = (node: SqlNode): Typed | undefined => {
    if (node.k === 'literal' || aggregatesIn([node]).length > 0) return undefined;
    const row = attempt(() => before.lower(node, { subquery: (each) => refuse(each) }));
    const index = row === undefined ? -1 : keys.findIndex(({ key }) => key === exprKey(row.expr));
    return index < 0 ? undefined : { expr: field('_id', `k${index}`), kind: keys[index]!.value.kind };
  };
  const block: Block = new Block(before.stages, sources, before.around, {
    aggregate: fold,
    column: (path, at) => {
      const own = find(path, at, { sources });
      if (own !== undefined) return own;
      const key = byKey({ k: 'column', path, at });
      if (key !== undefined) return key;
      const around = find(path, at, block.scope);
      if (around !== undefined) return around;
      resolve(path, at, before.scope);
      const name = path.join('.');
      const hint = `add it to GROUP BY or wrap it, e.g. in MAX`;
      const ordinal = ordinalIn(select);
      throw fault(
        at,
        `the column ${name} is neither grouped nor aggregated`,
        ordinal === undefined
          ? hint
          : `GROUP BY ${ordinal} is the number ${ordinal}, not a position in SELECT: write GROUP BY ${name}`,
      );
    },
    whole: (node) => (node.k === 'column' || keys.length === 0 ? undefined : byKey(node)),
  });
  block.lookups = before.lookups;
  return block;
}

function refuse(node: SqlNode): never {
  throw fault(node.at, 'a subquery cannot be a group key');
}

function attempt(read: () => Typed): Typed | undefined {
  try {
    return read();
  } catch (caught) {
    if (caught instanceof QueryError) return undefined;
    throw caught;
  }
}

/** Null and missing are one group. */
function nullable(expr: Expr): Expr {
  return call('agg.ifNull', [expr, literal(null)], 'GROUP BY');
}

function keysOf(select: Select, before: Block): Key[] {
  return (select.groupBy ?? []).map(({ value: node, alias }, index): Key => {
    const selected = alias === undefined ? selectedKey(node, select, before) : undefined;
    const value = before.lower(selected ?? node);
    const own =
      selected !== undefined
        ? undefined
        : before.scope.sources.find((source) => node.k === 'column' && isColumnOf(source, node.path, value.expr));
    if (value.kind.types !== undefined && isMixed(value.kind)) {
      throw fault(
        node.at,
        `values of types that do not compare cannot be grouped: ${kindText(value.kind)}`,
        'cast them',
      );
    }
    const types = value.kind.types && new Set([...value.kind.types].filter((type) => type !== 'missing'));
    const kind: Kind = { ...value.kind, ...(types && { types: types.add('null') }) };
    const last = node.k === 'column' ? node.path.at(-1)! : node.k === 'access' ? node.name : `_groupKey${index + 1}`;
    const table = alias === undefined && own !== undefined ? own.name : '';
    return { table, name: alias ?? last, value: { expr: value.expr, kind }, key: exprKey(value.expr) };
  });
}

/** The selected expression whose alias is the key: it takes precedence over a column of that name. */
function selectedKey(node: SqlNode, select: Select, { scope }: Block): SqlNode | undefined {
  if (node.k !== 'column' || node.path.length > 1 || select.aggregates.length > 0) return undefined;
  const name = node.path[0]!;
  const item = select.items.find((each) => each.k === 'expression' && each.alias === name);
  const selected = item?.k === 'expression' ? item.value : undefined;
  if (selected === undefined || aggregatesIn([selected]).length === 0) return selected;
  if (scope.sources.some(({ kind }) => kind.fields?.has(name))) return undefined;
  throw fault(
    node.at,
    `${name} is an aggregate and cannot be a group key`,
    'group by columns, or by values computed from them',
  );
}

function isColumnOf(source: Source, path: readonly string[], expr: Expr): boolean {
  if (path.length > 2 || (path.length === 2 && path[0] !== source.name)) return false;
  const own = fieldPath(source.doc, path.at(-1)!);
  return own !== undefined && exprKey(own) === exprKey(expr);
}

function fieldPath(doc: Expr, name: string): Expr | undefined {
  return doc.k === 'field' ? field(...doc.path, name) : undefined;
}

function sourcesOf(columns: readonly Column[]): Source[] {
  const tables = [...new Set(columns.map(({ table }) => table))];
  return tables.map((table): Source => {
    const own = columns.filter((column) => column.table === table);
    const doc: Expr = { k: 'doc', fields: own.map(({ name, value }) => [name, value.expr]) };
    return { name: table, doc, kind: documentKind(own.map(({ name, value }) => [name, value.kind])) };
  });
}

function accumulatorOf(node: SqlAggregate, before: Block): { accumulator: Accumulator; kind: Kind } {
  const given: Typed =
    node.arg === undefined
      ? { expr: node.distinct ? field() : literal(true), kind: kindOf('bool') }
      : before.lower(node.arg);
  const { fn: name, takes: wanted, gives, compares } = sqlAggregates.get(node.fn)!;
  const arg = wanted === undefined ? given : notText(given);
  if (wanted !== undefined && unfit(arg.kind, wanted)) {
    throw fault(node.at, `${node.fn} takes ${wanted.join(' or ')}, found ${kindText(arg.kind)}`);
  }
  if ((compares === true || node.distinct) && isMixed(arg.kind)) {
    const written = node.distinct ? `${node.fn}(DISTINCT …)` : node.fn;
    throw fault(node.at, `${written} takes values that compare with each other, found ${kindText(arg.kind)}`);
  }
  // COUNT(*) counts rows, whatever they contain.
  const fn = node.arg === undefined && node.distinct ? 'count' : name;
  const accumulator = { fn, arg: arg.expr, ...(node.distinct && { distinct: true }) };
  return { accumulator, kind: gives(arg.kind) };
}
