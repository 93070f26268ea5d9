/** FROM: tables, arrays, queries, joins, UNWIND and FLATTEN. */
import { maxDepth } from '../../bson/decode.ts';
import type { From } from './ast.ts';
import { type Cursor, fault } from './cursor.ts';
import { parseList, parseSqlExpression } from './expression.ts';
import { isName } from './keywords.ts';
import { arrow, once, parseUnwind } from './unwind.ts';

export function parseFrom(cursor: Cursor): From {
  let left = parseJoins(cursor);
  for (let terms = 0; ; terms++) {
    const at = cursor.peek();
    if (!cursor.take(',')) return left;
    if (terms > maxDepth) throw fault(at, `FROM can have at most ${maxDepth} tables`);
    left = { k: 'join', how: 'inner', left, right: parseJoins(cursor), on: undefined, at };
  }
}

function parseJoins(cursor: Cursor): From {
  let left = parseSource(cursor);
  for (let terms = 0; ; terms++) {
    const at = cursor.peek();
    const how = joinOf(cursor);
    if (how === undefined) return left;
    if (terms > maxDepth) throw fault(at, `FROM can have at most ${maxDepth} tables`);
    const right = parseSource(cursor);
    const on = how !== 'cross' && cursor.take('ON') ? parseSqlExpression(cursor) : undefined;
    if (on === undefined && (how === 'left' || how === 'right')) {
      throw cursor.unexpected(`ON and the condition of the ${how.toUpperCase()} JOIN`, ['ON']);
    }
    left =
      how === 'right'
        ? { k: 'join', how: 'left', left: right, right: left, on, at }
        : { k: 'join', how: how === 'left' ? 'left' : 'inner', left, right, on, at };
  }
}

function joinOf(cursor: Cursor): 'inner' | 'left' | 'right' | 'cross' | undefined {
  if (cursor.is('FULL'))
    throw fault(cursor.peek(), 'FULL JOIN is not supported', 'use a UNION of a LEFT and a RIGHT JOIN');
  if (cursor.take('JOIN') || cursor.take('INNER', 'JOIN')) return 'inner';
  if (cursor.take('CROSS', 'JOIN')) return 'cross';
  if (cursor.take('LEFT', 'JOIN') || cursor.take('LEFT', 'OUTER', 'JOIN')) return 'left';
  if (cursor.take('RIGHT', 'JOIN') || cursor.take('RIGHT', 'OUTER', 'JOIN')) return 'right';
  return undefined;
}

function parseSource(cursor: Cursor): From {
  const at = cursor.peek();
  if (cursor.take('UNWIND')) return parseUnwind(cursor, () => parseFrom(cursor));
  if (cursor.take('FLATTEN')) return parseFlatten(cursor);
  if (cursor.take('[')) {
    const items = parseList(cursor, ']', () => parseSqlExpression(cursor));
    return { k: 'array', items, alias: required(cursor, 'an array'), at };
  }
  if (cursor.take('(')) {
    const isQuery = ['SELECT', 'WITH', '('].some((word) => cursor.is(word));
    if (isQuery) {
      const query = cursor.nested(() => cursor.query());
      cursor.expect(')', 'to close the query');
      return { k: 'derived', query, alias: required(cursor, 'a query'), at };
    }
    const inner = cursor.nested(() => parseFrom(cursor));
    cursor.expect(')', 'to close the parenthesis');
    return inner;
  }
  const path = [cursor.name('a table')];
  while (cursor.take('.')) path.push(cursor.name('a table'));
  if (path.length > 2) {
    throw fault(
      at,
      `a table is named by database and name, found ${path.join('.')}`,
      `did you mean ${path.slice(0, 2).join('.')}?`,
    );
  }
  return { k: 'collection', path, alias: parseAlias(cursor), at };
}

function required(cursor: Cursor, what: string): string {
  const alias = parseAlias(cursor);
  if (alias === undefined) throw cursor.unexpected(`an alias, which ${what} in FROM must have`, ['AS']);
  return alias;
}

function parseFlatten(cursor: Cursor): From {
  const at = cursor.expect('(', 'after FLATTEN');
  const of = cursor.nested(() => parseFrom(cursor));
  let separator = '_';
  let levels: number | undefined;
  if (cursor.take('WITH')) {
    const given = new Set<string>();
    do {
      once(cursor, given);
      if (cursor.take('SEPARATOR')) {
        arrow(cursor);
        if (cursor.peek().kind !== 'string') throw cursor.unexpected("a string such as '_'");
        separator = cursor.next().text;
      } else if (cursor.take('DEPTH')) {
        arrow(cursor);
        const token = cursor.next();
        levels = Number(token.text);
        if (token.kind !== 'number' || !Number.isInteger(levels)) throw fault(token, 'DEPTH takes a whole number');
      } else throw cursor.unexpected('SEPARATOR or DEPTH', ['SEPARATOR', 'DEPTH']);
    } while (cursor.take(','));
  }
  cursor.expect(')', 'to close FLATTEN');
  return { k: 'flatten', of, separator, depth: levels, at };
}

/** With or without AS; a bare word that is reserved belongs to the next clause. */
export function parseAlias(cursor: Cursor): string | undefined {
  if (cursor.take('AS')) return cursor.name('an alias');
  return isName(cursor.peek()) ? cursor.next().text : undefined;
}
