/** Statements: SELECT, UNION of several, preceded by WITH. */
import { maxDepth } from '../../bson/decode.ts';
import {
  expressionsOf,
  type OrderItem,
  partsOf,
  type Query,
  type Select,
  type SelectItem,
  type SqlAggregate,
  type SqlNode,
} from './ast.ts';
import { type Cursor, fault, listed } from './cursor.ts';
import { aggregateText } from './dialect-hints.ts';
import { parseSqlExpression } from './expression.ts';
import { parseAlias, parseFrom } from './from.ts';

const maxColumns = 10_000;
const maxKeys = 1000;

export function parseStatement(cursor: Cursor): Query {
  const query = parseQuery(cursor);
  cursor.take(';');
  if (cursor.peek().kind !== 'end') {
    throw cursor.unexpected('the end of the statement or its next clause', [
      ...['WHERE', 'GROUP', 'HAVING', 'ORDER', 'LIMIT', 'OFFSET', 'UNION', 'JOIN', 'AS'],
    ]);
  }
  return query;
}

export function parseQuery(cursor: Cursor): Query {
  const at = cursor.peek();
  if (cursor.take('WITH')) {
    const tables = listed(cursor, 'WITH', maxKeys, (): [string, Query] => {
      const name = cursor.name('the name of a query');
      cursor.expect('AS', 'after the name of a query');
      cursor.expect('(', 'before a query');
      const query = cursor.nested(() => parseQuery(cursor));
      cursor.expect(')', 'to close a query');
      return [name, query];
    });
    return { k: 'with', tables, query: cursor.nested(() => parseQuery(cursor)), at };
  }
  let query = parseTerm(cursor);
  for (let unions = 0; ; unions++) {
    const union = cursor.peek();
    if (!cursor.take('UNION')) return query;
    if (unions > maxDepth) throw fault(union, `a statement can unite at most ${maxDepth} queries`);
    const all = cursor.take('ALL');
    if (!all) cursor.take('DISTINCT');
    query = { k: 'union', all, left: query, right: parseTerm(cursor), at: union };
  }
}

function parseTerm(cursor: Cursor): Query {
  if (!cursor.take('(')) return parseSelect(cursor);
  const query = cursor.nested(() => parseQuery(cursor));
  cursor.expect(')', 'to close the query');
  return query;
}

function parseSelect(cursor: Cursor): Select {
  const at = cursor.expect('SELECT', 'at the start of the statement');
  const distinct = cursor.take('DISTINCT');
  if (!distinct) cursor.take('ALL');
  const value = (cursor.is('VALUE') || cursor.is('VALUES')) && !cursor.is(',', 1) && !cursor.is('FROM', 1);
  if (value) cursor.next();
  if (value && cursor.is('*')) throw cursor.unexpected('documents after SELECT VALUE');
  const items = listed(cursor, 'SELECT', maxColumns, () => parseItem(cursor));
  const ends = cursor.peek().kind === 'end' || [')', ';', 'UNION'].some((text) => cursor.is(text));
  if (!ends && !cursor.is('FROM')) throw cursor.unexpected('a comma or FROM', ['FROM', 'AS']);
  const from = cursor.take('FROM') ? parseFrom(cursor) : undefined;
  const where = cursor.take('WHERE') ? parseSqlExpression(cursor) : undefined;
  const groupBy = takeBy(cursor, 'GROUP') ? parseGroupKeys(cursor) : undefined;
  const aggregates = groupBy !== undefined && cursor.take('AGGREGATE') ? parseAggregates(cursor) : [];
  const having = cursor.take('HAVING') ? parseSqlExpression(cursor) : undefined;
  const orderBy = takeBy(cursor, 'ORDER') ? parseOrder(cursor) : [];
  const slice = parseSlice(cursor);
  if (value) refuseAggregates(items);
  return { k: 'select', distinct, value, items, from, where, groupBy, aggregates, having, orderBy, ...slice, at };
}

/** SELECT VALUE takes values as they are; aggregates get their names from GROUP BY. */
function refuseAggregates(items: readonly SelectItem[]): void {
  const [found] = aggregatesIn(expressionsOf(items));
  if (found === undefined) return;
  const hint = `name it first: GROUP BY … AGGREGATE ${aggregateText(found)} AS total, then select total`;
  throw fault(found.at, 'SELECT VALUE takes no aggregates', hint);
}

/** GROUP BY or ORDER BY. */
function takeBy(cursor: Cursor, clause: 'GROUP' | 'ORDER'): boolean {
  if (!cursor.take(clause)) return false;
  if (cursor.take('BY')) return true;
  const { kind, text } = cursor.peek();
  const hint = kind === 'end' ? `write ${clause} BY and a column` : `write ${clause} BY ${text}`;
  throw cursor.unexpected(`BY after ${clause}`, [], hint);
}

function parseSlice(cursor: Cursor): { limit: number | undefined; offset: number } {
  let limit: number | undefined;
  let offset: number | undefined;
  for (;;) {
    if (limit === undefined && cursor.take('LIMIT')) {
      limit = count(cursor, 'LIMIT');
      if (offset === undefined && cursor.take(',')) offset = count(cursor, 'LIMIT');
    } else if (offset === undefined && cursor.take('OFFSET')) {
      offset = count(cursor, 'OFFSET');
      if (!cursor.take('ROWS')) cursor.take('ROW');
    } else if (limit === undefined && cursor.take('FETCH')) {
      if (!cursor.take('FIRST')) cursor.take('NEXT');
      limit = count(cursor, 'FETCH');
      if (!cursor.take('ROWS')) cursor.take('ROW');
      cursor.take('ONLY');
    } else return { limit, offset: offset ?? 0 };
  }
}

function parseItem(cursor: Cursor): SelectItem {
  const at = cursor.peek();
  if (cursor.take('*')) return { k: 'all', qualifier: undefined, at };
  if (cursor.is('.', 1) && cursor.is('*', 2)) {
    const qualifier = cursor.name('a table');
    cursor.take('.', '*');
    return { k: 'all', qualifier, at };
  }
  const value = parseSqlExpression(cursor);
  return { k: 'expression', value, alias: parseAlias(cursor), at };
}

function parseGroupKeys(cursor: Cursor): NonNullable<Select['groupBy']> {
  return listed(cursor, 'GROUP BY', maxKeys, () => ({ value: parseSqlExpression(cursor), alias: parseAlias(cursor) }));
}

function parseAggregates(cursor: Cursor): Select['aggregates'] {
  return listed(cursor, 'AGGREGATE', maxKeys, () => {
    const at = cursor.peek();
    const value = parseSqlExpression(cursor);
    if (value.k !== 'aggregate') throw fault(at, 'AGGREGATE takes aggregates', 'e.g. SUM(x) AS total');
    const alias = parseAlias(cursor);
    if (alias === undefined) throw cursor.unexpected('AS and a name after the aggregate', ['AS']);
    return { value, alias };
  });
}

function parseOrder(cursor: Cursor): OrderItem[] {
  return listed(cursor, 'ORDER BY', maxKeys, () => {
    const value = parseSqlExpression(cursor);
    const descending = cursor.take('DESC');
    if (!descending) cursor.take('ASC');
    return { value, descending };
  });
}

function count(cursor: Cursor, clause: string): number {
  const token = cursor.peek();
  if (token.kind !== 'number' || !/^\d+$/.test(token.text))
    throw fault(token, `${clause} takes a whole number, found '${token.text}'`);
  cursor.next();
  return Math.min(Number(token.text), Number.MAX_SAFE_INTEGER);
}

/** The aggregates in expressions, in order of appearance, without those in subqueries. */
export function aggregatesIn(nodes: readonly SqlNode[]): SqlAggregate[] {
  return nodes.flatMap((node) => (node.k === 'aggregate' ? [node] : aggregatesIn(partsOf(node))));
}
