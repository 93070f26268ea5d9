/** The SELECT statement. */

import type { OrderItem, Select, SelectItem } from './ast.ts';
import { type Cursor, fault, later } from './cursor.ts';
import { parseSqlExpression } from './expression.ts';
import { reserved } from './keywords.ts';

export function parseSelect(cursor: Cursor): Select {
  if (cursor.is('WITH')) throw later(cursor.peek(), 'WITH');
  cursor.expect('SELECT', 'at the start of the statement');
  const distinct = cursor.take('DISTINCT');
  if (!distinct) cursor.take('ALL');
  const value = (cursor.is('VALUE') || cursor.is('VALUES')) && !cursor.is(',', 1) && !cursor.is('FROM', 1);
  if (value) cursor.next();
  const items = [parseItem(cursor)];
  while (cursor.take(',')) items.push(parseItem(cursor));
  if (!cursor.is('FROM')) throw cursor.unexpected('a comma or FROM', ['FROM', 'AS']);
  cursor.next();
  const table = parseTable(cursor);
  const where = cursor.take('WHERE') ? parseSqlExpression(cursor) : undefined;
  const groupBy = cursor.take('GROUP', 'BY') ? parseGroupKeys(cursor) : [];
  const having = cursor.take('HAVING') ? parseSqlExpression(cursor) : undefined;
  const orderBy = cursor.take('ORDER', 'BY') ? parseOrder(cursor) : [];
  let limit: number | undefined;
  let offset = 0;
  for (;;) {
    if (cursor.take('LIMIT')) limit = count(cursor, 'LIMIT');
    else if (cursor.take('OFFSET')) {
      offset = count(cursor, 'OFFSET');
      if (!cursor.take('ROWS')) cursor.take('ROW');
    } else break;
  }
  if (cursor.is('UNION')) throw later(cursor.peek(), 'UNION');
  cursor.take(';');
  if (cursor.peek().kind !== 'end') {
    throw cursor.unexpected('the end of the statement or its next clause', [
      'WHERE',
      'GROUP',
      'HAVING',
      'ORDER',
      'LIMIT',
      'OFFSET',
      'AS',
    ]);
  }
  return { distinct, value, items, table, where, groupBy, having, orderBy, limit, offset };
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

/** With or without AS; a bare word that is reserved belongs to the next clause. */
function parseAlias(cursor: Cursor): string | undefined {
  if (cursor.take('AS')) return cursor.name('an alias');
  const token = cursor.peek();
  const isName = token.kind === 'quoted' || (token.kind === 'word' && !reserved.has(token.text.toUpperCase()));
  return isName ? cursor.next().text : undefined;
}

function parseTable(cursor: Cursor): Select['table'] {
  const at = cursor.peek();
  if (['(', '[', 'UNWIND', 'FLATTEN'].some((start) => cursor.is(start)))
    throw later(at, 'FROM with a subquery, an array, UNWIND or FLATTEN');
  const path = [cursor.name('a table')];
  while (cursor.take('.')) path.push(cursor.name('a table'));
  if (cursor.is('(')) throw later(at, `FROM ${path.join('.')}(…)`);
  const alias = parseAlias(cursor);
  const next = cursor.peek();
  if (cursor.is(',') || ['JOIN', 'INNER', 'LEFT', 'RIGHT', 'CROSS', 'FULL'].some((word) => cursor.is(word))) {
    throw later(next, 'a join');
  }
  return { path, alias, at };
}

function parseGroupKeys(cursor: Cursor): Select['groupBy'] {
  const keys: Select['groupBy'][number][] = [];
  do {
    const value = parseSqlExpression(cursor);
    keys.push({ value, alias: cursor.take('AS') ? cursor.name('an alias') : undefined });
  } while (cursor.take(','));
  if (cursor.is('AGGREGATE')) throw later(cursor.peek(), 'GROUP BY … AGGREGATE');
  return keys;
}

function parseOrder(cursor: Cursor): OrderItem[] {
  const items: OrderItem[] = [];
  do {
    const value = parseSqlExpression(cursor);
    const descending = cursor.take('DESC');
    if (!descending) cursor.take('ASC');
    items.push({ value, descending });
  } while (cursor.take(','));
  return items;
}

function count(cursor: Cursor, clause: string): number {
  const token = cursor.peek();
  if (token.kind !== 'number' || !/^\d+$/.test(token.text))
    throw fault(token, `${clause} takes a whole number, found '${token.text}'`);
  cursor.next();
  return Math.min(Number(token.text), Number.MAX_SAFE_INTEGER);
}
