/** Expressions of SQL, by operator precedence (Pratt): OR, AND, NOT, comparison, ||, + -, * / %, unary minus, access. */

import { maxDepth } from '../../bson/decode.ts';
import { isNumeric } from '../../bson/type.ts';
import { type BsonValue, Int32 } from '../../bson/value.ts';
import type { QueryError } from '../../query-error.ts';
import type { Query, SqlNode } from './ast.ts';
import { parseAssert, parseCast, typeTest } from './cast.ts';
import { type Cursor, fault } from './cursor.ts';
import { dateAddFor, itemsHint, literalText } from './dialect-hints.ts';
import { parseFunction, writtenTime } from './function.ts';
import { reserved } from './keywords.ts';
import type { Token } from './lex.ts';

const powers: Readonly<Record<string, number>> = {
  OR: 10,
  AND: 20,
  '||': 50,
  '+': 60,
  '-': 60,
  '*': 70,
  '/': 70,
  '%': 70,
};
const comparisons: Readonly<Record<string, string>> = {
  '=': 'eq',
  '<>': 'ne',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
};
const operators: Readonly<Record<string, string>> = {
  ...{ OR: 'sql.or', AND: 'sql.and', '||': 'sql.concat', '+': 'agg.add', '-': 'agg.subtract', '*': 'agg.multiply' },
  ...{ '/': 'sql.divide', '%': 'sql.mod' },
};
/** Chained operators nest to the left, so their number counts as depth too. */
const maxChain = 1000;
const comparisonPower = 40;
/** LIKE binds less than the other comparisons. */
const likePower = 35;
const notPower = 30;

/** Parses as long as operators bind more strongly than `power`. */
export function parseSqlExpression(cursor: Cursor, power = 0): SqlNode {
  return cursor.nested(() => parseOperators(cursor, power));
}

function parseOperators(cursor: Cursor, power: number): SqlNode {
  const below = (binding = 0): SqlNode => parseSqlExpression(cursor, binding);
  let left = parsePrefix(cursor, below);
  let terms = 0;
  for (;;) {
    const token = cursor.peek();
    if (++terms > maxChain)
      throw fault(token, `an expression can chain at most ${maxChain} operators, found more`, 'use IN for long lists');
    const text = token.kind === 'symbol' ? token.text : token.kind === 'word' ? token.text.toUpperCase() : '';
    const binding = powers[text];
    if (binding !== undefined && binding > power) {
      cursor.next();
      const right = below(binding);
      // Chains of AND and OR stay flat, whatever their length.
      const flat =
        (text === 'AND' || text === 'OR') && left.k === 'call' && left.fn === operators[text] ? left.args : [left];
      left = { k: 'call', fn: operators[text]!, args: [...flat, right], at: token };
    } else if (comparisonPower > power || (likePower > power && isLike(cursor))) {
      const compared = parseComparison(cursor, left, below);
      if (compared === undefined) return left;
      left = compared;
    } else return left;
  }
}

function parseComparison(cursor: Cursor, left: SqlNode, below: (power?: number) => SqlNode): SqlNode | undefined {
  const at = cursor.peek();
  const call = (fn: string, ...args: SqlNode[]): SqlNode => ({ k: 'call', fn, args, at });
  if (at.kind === 'symbol' && comparisons[at.text] !== undefined) {
    cursor.next();
    const op = `sql.${comparisons[at.text]}`;
    for (const word of ['ANY', 'SOME', 'ALL']) {
      if (!cursor.is(word) || !cursor.is('(', 1)) continue;
      cursor.next();
      if (!startsQuery(cursor)) throw refuseArray(cursor.peek(1), `${word} takes a query`, left);
      return { k: 'subquery', how: word === 'ALL' ? 'all' : 'any', op, left, query: parseSubquery(cursor), at };
    }
    return call(op, left, below(comparisonPower));
  }
  if (cursor.take('IS')) {
    const not = cursor.take('NOT');
    const test = typeTest(cursor, left, at);
    return not ? call('sql.not', test) : test;
  }
  const not = cursor.is('NOT') && ['IN', 'BETWEEN', 'LIKE'].some((word) => cursor.is(word, 1));
  if (not) cursor.next();
  const negated = (node: SqlNode): SqlNode => (not ? call('sql.not', node) : node);
  if (cursor.take('IN')) {
    if (cursor.is('(') && startsQuery(cursor, 1)) {
      const query = parseSubquery(cursor);
      return not
        ? { k: 'subquery', how: 'all', op: 'sql.ne', left, query, at }
        : { k: 'subquery', how: 'any', op: 'sql.eq', left, query, at };
    }
    if (!cursor.is('(')) throw refuseArray(cursor.peek(), 'IN takes a list in parentheses or a query', left);
    cursor.next();
    const list = [below()];
    while (cursor.take(',')) list.push(below());
    cursor.expect(')', 'after the values of IN');
    return negated(call('sql.in', left, ...list));
  }
  if (cursor.take('BETWEEN')) {
    const low = below(comparisonPower);
    cursor.expect('AND', 'between the bounds of BETWEEN');
    return negated(call('sql.and', call('sql.gte', left, low), call('sql.lte', left, below(comparisonPower))));
  }
  if (cursor.take('LIKE')) {
    const pattern = below(likePower);
    return negated(call('sql.like', left, pattern, parseEscape(cursor, at)));
  }
  return undefined;
}

/** After the pattern of LIKE: the escape character for % and _. */
function parseEscape(cursor: Cursor, at: Token): SqlNode {
  if (!cursor.take('ESCAPE')) return { k: 'literal', value: '\\', at };
  const token = cursor.peek();
  if (token.kind !== 'string' || Array.from(token.text).length !== 1)
    throw cursor.unexpected("one character in quotes after ESCAPE, such as '!'");
  return { k: 'literal', value: cursor.next().text, at: token };
}

/** The error for an array where other dialects accept one. */
function refuseArray(found: Token, expected: string, item: SqlNode): QueryError {
  const reason = `${expected}, found ${found.kind === 'end' ? 'the end of the text' : `'${found.text}'`}`;
  const isPath = found.kind === 'word' || found.kind === 'quoted';
  const value = item.k === 'literal' ? literalText(item.value) : '…';
  return fault(found, reason, isPath ? `for an array, ${itemsHint(found.text, value)}` : undefined);
}

function isLike(cursor: Cursor): boolean {
  return cursor.is('LIKE') || (cursor.is('NOT') && cursor.is('LIKE', 1));
}

/** Whether the next token is SELECT or WITH, after any parentheses. */
function startsQuery(cursor: Cursor, ahead = 0): boolean {
  let at = ahead;
  while (at < ahead + maxDepth && cursor.is('(', at)) at++;
  return cursor.is('SELECT', at) || cursor.is('WITH', at);
}

function parseSubquery(cursor: Cursor): Query {
  cursor.expect('(', 'before a subquery');
  const query = cursor.query();
  cursor.expect(')', 'to close the subquery');
  return query;
}

function parsePrefix(cursor: Cursor, below: (power?: number) => SqlNode): SqlNode {
  const at = cursor.peek();
  if (at.kind === 'string') return access(cursor, { k: 'literal', value: cursor.next().text, at }, below);
  if (at.kind === 'number') return access(cursor, { k: 'literal', value: numberOf(cursor.next()), at }, below);
  if (cursor.take('-')) {
    const value = below(80);
    if (value.k === 'literal') {
      const negative = negated(value.value);
      if (negative !== undefined) return { ...value, value: negative, at };
    }
    return { k: 'call', fn: 'sql.negate', args: [value], at };
  }
  if (cursor.take('+')) {
    const value = below(80);
    return value.k === 'literal' && isNumeric(value.value) ? value : { k: 'call', fn: 'agg.add', args: [value], at };
  }
  if (cursor.take('NOT')) return { k: 'call', fn: 'sql.not', args: [below(notPower)], at };
  if (cursor.is('(') && startsQuery(cursor)) {
    return access(cursor, { k: 'subquery', how: 'scalar', query: parseSubquery(cursor), at }, below);
  }
  if (cursor.take('(')) {
    const inner = below();
    cursor.expect(')', 'to close the parenthesis');
    return access(cursor, inner, below);
  }
  if (cursor.take('['))
    return access(cursor, { k: 'call', fn: 'agg.array', args: parseList(cursor, ']', below), at }, below);
  if (cursor.take('{')) return access(cursor, parseDocument(cursor, at, below), below);
  for (const [word, value] of [
    ['NULL', null],
    ['TRUE', true],
    ['FALSE', false],
  ] as const) {
    if (cursor.take(word)) return access(cursor, { k: 'literal', value, at }, below);
  }
  if (cursor.is('EXISTS') && cursor.is('(', 1)) {
    cursor.next();
    return access(cursor, { k: 'subquery', how: 'exists', query: parseSubquery(cursor), at }, below);
  }
  if (cursor.take('CASE')) return access(cursor, parseCase(cursor, at, below), below);
  if (cursor.is('CAST') && cursor.is('(', 1)) return access(cursor, parseCast(cursor, below), below);
  if (cursor.is('INTERVAL') && ['string', 'number'].includes(cursor.peek(1).kind)) {
    throw fault(at, 'there is no INTERVAL', dateAddFor(cursor));
  }
  if (at.kind === 'word' && (cursor.is('(', 1) || cursor.peek(1).kind === 'string' || cursor.is('CURRENT_TIMESTAMP'))) {
    const called = parseFunction(cursor, below);
    if (called !== undefined) return access(cursor, called, below);
  }
  if (at.kind === 'word' && reserved.has(at.text.toUpperCase())) throw cursor.unexpected('an expression');
  if (at.kind !== 'word' && at.kind !== 'quoted') throw cursor.unexpected('an expression');
  return access(cursor, { k: 'column', path: [cursor.name('a column')], at }, below);
}

/** What follows a value: `.name`, `['name']`, `[index]`, `::TYPE`. */
function access(cursor: Cursor, start: SqlNode, below: (power?: number) => SqlNode): SqlNode {
  let node = start;
  for (let steps = 0; ; steps++) {
    const at = cursor.peek();
    if (steps > maxDepth) throw fault(at, `a path can have at most ${maxDepth} parts`);
    if (cursor.is('.') && !cursor.is('*', 1)) {
      cursor.next();
      node = child(node, fieldName(cursor), at);
    } else if (cursor.take('[')) {
      const index = below();
      cursor.expect(']', 'to close the bracket');
      if (index.k === 'literal' && typeof index.value === 'string') node = child(node, index.value, at);
      else node = { k: 'call', fn: 'agg.arrayElemAt', args: [node, index], at };
    } else if (cursor.is('::!')) node = parseAssert(cursor, node);
    else if (cursor.is('::')) node = parseCast(cursor, below, node);
    else return node;
  }
}

/** After a dot, keywords are names too. */
function fieldName(cursor: Cursor): string {
  return cursor.peek().kind === 'word' ? cursor.next().text : cursor.name('the name of a field');
}

function child(node: SqlNode, name: string, at: Token): SqlNode {
  if (node.k === 'column') return { ...node, path: [...node.path, name] };
  return { k: 'access', of: node, name, at };
}

export function parseList(cursor: Cursor, close: string, below: () => SqlNode): SqlNode[] {
  const items: SqlNode[] = [];
  if (cursor.take(close)) return items;
  do items.push(below());
  while (cursor.take(','));
  cursor.expect(close, 'to close the list');
  return items;
}

function parseDocument(cursor: Cursor, at: Token, below: () => SqlNode): SqlNode {
  const fields: [string, SqlNode][] = [];
  // {fn …}, {ts '…'} and {d '…'} are ODBC escapes.
  if (cursor.is('FN') && cursor.peek(1).kind === 'word' && cursor.is('(', 2)) {
    cursor.next();
    const called = below();
    cursor.expect('}', 'after {fn …');
    return called;
  }
  if (cursor.peek().kind === 'word' && cursor.peek(1).kind === 'string') {
    const kind = cursor.next();
    const text = cursor.next();
    cursor.expect('}', `after ${kind.text} '…'`);
    if (!/^(ts|d)$/i.test(kind.text)) throw fault(kind, `expected ts, found ${kind.text}`);
    return writtenTime(text, at);
  }
  if (cursor.take('}')) return { k: 'document', fields, at };
  const names = new Set<string>();
  do {
    const key = cursor.peek();
    if (key.kind !== 'string' && key.kind !== 'quoted' && key.kind !== 'word')
      throw cursor.unexpected('the name of a field');
    cursor.next();
    cursor.expect(':', 'after the name of a field');
    if (names.has(key.text)) throw fault(key, `the field '${key.text}' occurs twice`);
    names.add(key.text);
    fields.push([key.text, below()]);
  } while (cursor.take(','));
  cursor.expect('}', 'to close the document');
  return { k: 'document', fields, at };
}

function parseCase(cursor: Cursor, at: Token, below: () => SqlNode): SqlNode {
  const subject = cursor.is('WHEN') ? undefined : below();
  const args: SqlNode[] = [];
  if (!cursor.is('WHEN')) throw cursor.unexpected('WHEN', ['WHEN']);
  while (cursor.take('WHEN')) {
    const when = below();
    args.push(subject === undefined ? when : { k: 'call', fn: 'sql.eq', args: [subject, when], at });
    cursor.expect('THEN', 'after WHEN');
    args.push(below());
  }
  args.push(cursor.take('ELSE') ? below() : { k: 'literal', value: null, at });
  cursor.expect('END', 'to close CASE');
  return { k: 'call', fn: 'sql.case', args, at };
}

/** Whole numbers are int or long by size, all others double. */
function numberOf(token: Token): BsonValue {
  if (!/^\d+$/.test(token.text)) return Number(token.text);
  const whole = BigInt(token.text);
  if (whole <= 2147483647n) return new Int32(Number(whole));
  return whole < 2n ** 63n ? whole : Number(token.text);
}

function negated(value: BsonValue): BsonValue | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return -value;
  return value instanceof Int32 ? new Int32(-value.value) : undefined;
}
