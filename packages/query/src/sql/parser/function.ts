/** Function calls of SQL: scalar functions, aggregates, typed literals such as TIMESTAMP '…'. */

import type { BsonValue } from '../../bson/value.ts';
import { Int32 } from '../../bson/value.ts';
import type { SqlNode } from './ast.ts';
import { refuseDate } from './cast.ts';
import { type Cursor, fault } from './cursor.ts';
import { dateAliases, dateFunctions, parseExtract } from './date-function.ts';
import { nearest } from './keywords.ts';
import type { Token } from './lex.ts';
import { writtenTime } from './written-time.ts';

/** The function of the plan, and how many arguments it takes: at least, at most. */
const scalars: Readonly<Record<string, readonly [string, number, number]>> = {
  ABS: ['agg.abs', 1, 1],
  CEIL: ['agg.ceil', 1, 1],
  CEILING: ['agg.ceil', 1, 1],
  FLOOR: ['agg.floor', 1, 1],
  ROUND: ['agg.round', 1, 2],
  SQRT: ['sql.sqrt', 1, 1],
  POW: ['agg.pow', 2, 2],
  POWER: ['agg.pow', 2, 2],
  MOD: ['sql.mod', 2, 2],
  LOG: ['sql.log', 1, 2],
  LOG10: ['sql.log', 1, 1],
  SIN: ['sql.sin', 1, 1],
  COS: ['sql.cos', 1, 1],
  TAN: ['sql.tan', 1, 1],
  RADIANS: ['agg.degreesToRadians', 1, 1],
  DEGREES: ['agg.radiansToDegrees', 1, 1],
  UPPER: ['sql.upper', 1, 1],
  UCASE: ['sql.upper', 1, 1],
  LOWER: ['sql.lower', 1, 1],
  LCASE: ['sql.lower', 1, 1],
  CHAR_LENGTH: ['sql.length', 1, 1],
  CHARACTER_LENGTH: ['sql.length', 1, 1],
  LENGTH: ['sql.length', 1, 1],
  OCTET_LENGTH: ['sql.octets', 1, 1],
  BIT_LENGTH: ['sql.bits', 1, 1],
  SUBSTRING: ['sql.substring', 2, 3],
  SPLIT: ['sql.split', 3, 3],
  REPLACE: ['sql.replace', 3, 3],
  COALESCE: ['agg.ifNull', 1, 100],
  NULLIF: ['sql.nullIf', 2, 2],
  SIZE: ['sql.size', 1, 1],
  SLICE: ['sql.slice', 2, 3],
  YEAR: ['agg.year', 1, 1],
  MONTH: ['agg.month', 1, 1],
  DAY: ['agg.dayOfMonth', 1, 1],
  HOUR: ['agg.hour', 1, 1],
  MINUTE: ['agg.minute', 1, 1],
  SECOND: ['agg.second', 1, 1],
  MILLISECOND: ['agg.millisecond', 1, 1],
  WEEK: ['agg.week', 1, 1],
  QUARTER: ['sql.quarter', 1, 1],
  DAYOFMONTH: ['agg.dayOfMonth', 1, 1],
  DAYOFWEEK: ['agg.dayOfWeek', 1, 1],
  DAYOFYEAR: ['agg.dayOfYear', 1, 1],
};

export const aggregates: readonly string[] = [
  ...['COUNT', 'SUM', 'AVG', 'MIN', 'MAX', 'FIRST', 'LAST', 'ADD_TO_ARRAY', 'ADD_TO_SET'],
  ...['STDDEV_POP', 'STDDEV_SAMP', 'MERGE_DOCUMENTS'],
];
/** Functions of other dialects, and what says the same here. */
const elsewhere: Readonly<Record<string, string>> = {
  GETDATE: 'CURRENT_TIMESTAMP',
  CONCAT: 'a || b',
  STDDEV: 'STDDEV_SAMP or STDDEV_POP',
  IF: 'CASE WHEN a THEN b ELSE c END',
  IIF: 'CASE WHEN a THEN b ELSE c END',
  IFNULL: 'COALESCE(a, b)',
  DATE_TRUNC: 'DATETRUNC(MINUTE, time_received)',
};
const special: readonly string[] = [
  ...['EXTRACT', 'DATEADD', 'DATEDIFF', 'DATETRUNC', 'CURRENT_TIMESTAMP', 'NOW'],
  ...['TRIM', 'LTRIM', 'RTRIM', 'POSITION'],
];

/** A call, or undefined where the word is a plain name. */
export function parseFunction(cursor: Cursor, below: (power?: number) => SqlNode): SqlNode | undefined {
  const at = cursor.peek();
  const name = at.text.toUpperCase();
  if (cursor.peek(1).kind === 'string') return parseTypedLiteral(cursor, at, name);
  if (name === 'CURRENT_TIMESTAMP') {
    cursor.next();
    if (cursor.take('(') && !cursor.take(')')) {
      cursor.next();
      cursor.expect(')', 'after the precision of CURRENT_TIMESTAMP');
    }
    return { k: 'call', fn: 'now', args: [], at };
  }
  cursor.next();
  cursor.next();
  if (name === 'NOW') {
    cursor.expect(')', 'after NOW(');
    return { k: 'call', fn: 'now', args: [], at };
  }
  if (aggregates.includes(name)) return parseAggregate(cursor, at, name, below);
  if (name === 'EXTRACT') return parseExtract(cursor, at, below);
  if (name === 'TRIM') return parseTrim(cursor, at, below);
  if (name === 'POSITION') return parsePosition(cursor, at, below);
  const args = parseArguments(cursor, name, below);
  if (name === 'LTRIM' || name === 'RTRIM') {
    const [text, chars = literal(' ', at)] = args;
    if (text === undefined || args.length > 2)
      throw fault(at, `${name} takes a string, found ${args.length} arguments`);
    return { k: 'call', fn: name === 'LTRIM' ? 'sql.trimStart' : 'sql.trimEnd', args: [text, chars], at };
  }
  const dated = Object.hasOwn(dateAliases, name) ? dateAliases[name]! : name;
  const dates = Object.hasOwn(dateFunctions, dated) ? dateFunctions[dated] : undefined;
  if (dates !== undefined) return dates(at, args);
  const scalar = Object.hasOwn(scalars, name) ? scalars[name] : undefined;
  if (scalar === undefined) {
    if (name === 'DATE') refuseDate(at, name);
    const known = [...Object.keys(scalars), ...aggregates, ...special, 'CAST'];
    const other = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
    const meant = nearest(name, known);
    const hint = meant ? `did you mean ${meant}?` : `the functions are ${known.join(', ')}`;
    throw fault(at, `unknown function ${at.text}`, other === undefined ? hint : `write ${other}`);
  }
  const [fn, least, most] = scalar;
  if (args.length < least || args.length > most) {
    throw fault(at, `${name} takes ${least === most ? least : `${least} to ${most}`} arguments, found ${args.length}`);
  }
  if (name === 'ROUND' && args.length === 2) return { k: 'call', fn: 'sql.round', args, at };
  if (name === 'COALESCE') return { k: 'call', fn, args: [...args, literal(null, at)], at };
  // The base is a double, as a statement would have it.
  if (fn === 'sql.log' && args.length === 1)
    return { k: 'call', fn, args: [...args, literal(name === 'LOG10' ? 10 : Math.E, at)], at };
  // Without a length, the rest of the text.
  if (name === 'SUBSTRING' && args.length === 2)
    return { k: 'call', fn, args: [...args, literal(new Int32(-1), at)], at };
  return { k: 'call', fn, args, at };
}

function literal(value: BsonValue, at: Token): SqlNode {
  return { k: 'literal', value, at };
}

function parseTypedLiteral(cursor: Cursor, at: Token, name: string): SqlNode | undefined {
  refuseDate(at, name);
  if (name !== 'TIMESTAMP') return undefined;
  cursor.next();
  return writtenTime(cursor.next(), at);
}

function parseAggregate(cursor: Cursor, at: Token, fn: string, below: () => SqlNode): SqlNode {
  if (cursor.take('*')) {
    if (fn !== 'COUNT') throw fault(at, `${fn} takes a value, found *`, 'only COUNT(*) counts rows');
    cursor.expect(')', 'after COUNT(*');
    return { k: 'aggregate', fn, arg: undefined, distinct: false, at };
  }
  const distinct = cursor.take('DISTINCT');
  if (distinct && fn === 'COUNT' && cursor.take('*')) {
    cursor.expect(')', 'after COUNT(DISTINCT *');
    return { k: 'aggregate', fn, arg: undefined, distinct, at };
  }
  if (!distinct) cursor.take('ALL');
  const args = [below()];
  while (fn === 'COUNT' && cursor.take(',')) args.push(below());
  cursor.expect(')', `to close ${fn}`);
  const fields = args.map((each, index) => [`_arg${index}`, each] as const);
  const arg: SqlNode = args.length === 1 ? args[0]! : { k: 'document', fields, at };
  return { k: 'aggregate', fn, arg, distinct, at };
}

function parseArguments(cursor: Cursor, name: string, below: () => SqlNode): SqlNode[] {
  if (cursor.take(')')) return [];
  const args = [below()];
  const separators = name === 'SUBSTRING' ? [',', 'FROM', 'FOR'] : [','];
  while (separators.some((separator) => cursor.take(separator))) args.push(below());
  cursor.expect(')', `to close ${name}`);
  return args;
}

/** TRIM([LEADING | TRAILING | BOTH] [characters] [FROM] text); the characters are a blank if not given. */
function parseTrim(cursor: Cursor, at: Token, below: () => SqlNode): SqlNode {
  const side = ['LEADING', 'TRAILING', 'BOTH'].find((word) => cursor.take(word));
  const fn = side === 'LEADING' ? 'sql.trimStart' : side === 'TRAILING' ? 'sql.trimEnd' : 'sql.trim';
  let chars: SqlNode = literal(' ', at);
  let text: SqlNode | undefined;
  if (!cursor.is('FROM')) text = below();
  if (cursor.take('FROM')) {
    if (text !== undefined) chars = text;
    text = below();
  }
  cursor.expect(')', 'to close TRIM');
  return { k: 'call', fn, args: [text!, chars], at };
}

/** POSITION(part IN text): from 0; the part is not read as a condition with IN. */
function parsePosition(cursor: Cursor, at: Token, below: (power?: number) => SqlNode): SqlNode {
  const part = below(40);
  cursor.expect('IN', 'between the two texts of POSITION');
  const text = below();
  cursor.expect(')', 'to close POSITION');
  return { k: 'call', fn: 'sql.position', args: [part, text], at };
}
