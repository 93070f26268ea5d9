/** Hints for users of other SQL dialects: what to write here instead. Each function returns a text or undefined. */

import { Int32, type Maybe } from '../../bson/value.ts';
import type { SelectItem, SqlNode } from './ast.ts';
import { nearest } from './keywords.ts';
import type { Token } from './lex.ts';

/** Where the parser stands: a Cursor. */
interface Position {
  peek(ahead?: number): Token;
  before(back: number): Token | undefined;
}

const symbols: Readonly<Record<string, string>> = {
  '==': 'write = to compare',
  '&&': 'write AND',
  '->': 'a field of a document is written a.b',
  '->>': 'a field of a document is written a.b',
  '~': 'write LIKE, with % and _',
  '@>': "use FROM UNWIND(readings WITH PATH => tags) to compare elements of an array, e.g. WHERE tags = 'a'",
};

const words: Readonly<Record<string, string>> = {
  ILIKE: 'write LIKE, which is not case-sensitive',
  ...{ REGEXP: 'write LIKE, with % and _', RLIKE: 'write LIKE, with % and _', SIMILAR: 'write LIKE, with % and _' },
  ...{ USING: 'write ON a.name = b.name', NATURAL: 'write JOIN … ON a.name = b.name' },
  ...{ INTERSECT: 'write EXISTS (SELECT …) in WHERE', EXCEPT: 'write NOT EXISTS (SELECT …) in WHERE' },
  OVER: 'there are no window functions in SQL here: use $setWindowFields in MQL',
  ...{ ORDER: 'write ORDER BY', GROUP: 'write GROUP BY' },
  ...Object.fromEntries(
    ['INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'ALTER'].map((word) => [
      word,
      'statements only read: write SELECT',
    ]),
  ),
};

const functions: Readonly<Record<string, string>> = {
  GETDATE: 'write CURRENT_TIMESTAMP',
  CONCAT: 'write a || b',
  STDDEV: 'write STDDEV_SAMP or STDDEV_POP',
  ...{ IF: 'write CASE WHEN a THEN b ELSE c END', IIF: 'write CASE WHEN a THEN b ELSE c END' },
  IFNULL: 'write COALESCE(a, b)',
  DATE_TRUNC: 'write DATETRUNC(MINUTE, time_received)',
};

/** What to write instead of a function of this name, in capitals. */
export function functionHint(name: string): string | undefined {
  return Object.hasOwn(functions, name) ? functions[name] : undefined;
}

/** What to write instead of the next token. */
export function dialectHintFor(cursor: Position): string | undefined {
  const { kind, text } = cursor.peek();
  if (text === '(' && cursor.before(1)?.text.toUpperCase() === 'OVER') return words['OVER'];
  if (kind === 'symbol') return Object.hasOwn(symbols, text) ? symbols[text] : undefined;
  if (kind === 'number' && cursor.before(1)?.text.toUpperCase() === 'TOP') return `write LIMIT ${text} at the end`;
  if (kind !== 'word') return undefined;
  const word = text.toUpperCase();
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

const units: readonly string[] = 'YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND'.split(' ');
const shortUnits: Readonly<Record<string, string>> = {
  ...{ Y: 'YEAR', MON: 'MONTH', W: 'WEEK', D: 'DAY', H: 'HOUR', M: 'MINUTE', MIN: 'MINUTE' },
  ...{ S: 'SECOND', SEC: 'SECOND', MS: 'MILLISECOND' },
};

/** At `INTERVAL '1 hour'` or `INTERVAL 1 HOUR`: the DATEADD that adds it to the value before it, or subtracts it. */
export function dateAddFor(cursor: Position): string {
  const amount = cursor.peek(1).text.trim();
  const parts = /^([+-]?\d+)\s*([a-z]+)?$/i.exec(amount);
  const [, number = '1', word = cursor.peek(2).text] = parts ?? [];
  const name = word.toUpperCase();
  const unit = shortUnits[name] ?? nearest(name.replace(/S$/, ''), units) ?? 'HOUR';
  const operator = cursor.before(1)?.text;
  const negative = (operator === '-') !== number.startsWith('-');
  const date = cursor.before(2);
  const isName = date?.kind === 'word' && cursor.before(3)?.text !== '.';
  const count = number.replace(/^[+-]/, '');
  return `write ${parts === null ? 'e.g. ' : ''}DATEADD(${unit}, ${negative ? '-' : ''}${count}, ${isName ? date.text : 'CURRENT_TIMESTAMP'})`;
}

/** Why an alias from the SELECT list is unknown in a clause that is evaluated earlier. */
export function aliasHint(name: string, items: readonly SelectItem[], clause: string): string | undefined {
  const item = items.find((each) => each.k === 'expression' && each.alias === name);
  if (item?.k !== 'expression') return undefined;
  const { value } = item;
  if (value.k === 'aggregate' && clause === 'WHERE') {
    return `conditions on aggregates belong in HAVING: HAVING ${aggregateText(value)} …`;
  }
  if (value.k === 'column') return `write ${value.path.join('.')}`;
  if (value.k === 'aggregate') return `write ${aggregateText(value)}`;
  return `repeat its expression in ${clause}, or put the query in FROM: SELECT … FROM (SELECT …) AS t WHERE ${name} …`;
}

export function aggregateText({ fn, arg, distinct }: SqlNode & { k: 'aggregate' }): string {
  const inner = arg === undefined ? '*' : arg.k === 'column' ? arg.path.join('.') : '…';
  return `${fn}(${distinct ? 'DISTINCT ' : ''}${inner})`;
}

/** A literal as a statement writes it. */
export function literalText(value: Maybe): string {
  if (typeof value === 'string') return `'${value.slice(0, 80).replaceAll("'", "''")}'`;
  return value instanceof Int32 ? String(value.value) : typeof value === 'number' ? String(value) : '…';
}

/** How to compare the items of an array: with its own name, or an example for an array that belongs to no table. */
export function itemsHint(name: string | undefined, value: string): string {
  const path = name ?? 'tags';
  return `use FROM UNWIND(readings WITH PATH => ${path}) to get one row per element, then write WHERE ${path} = ${value}`;
}
