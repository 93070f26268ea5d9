/** Function calls of SQL: scalar functions, aggregates, typed literals such as TIMESTAMP '…'. */

import type { SqlNode } from './ast.ts';
import { refuseDate } from './cast.ts';
import { type Cursor, fault, later } from './cursor.ts';
import { nearest } from './keywords.ts';
import type { Token } from './lex.ts';

/** The function of the plan, and how many arguments it takes: at least, at most. */
const scalars: Readonly<Record<string, readonly [string, number, number]>> = {
  ABS: ['agg.abs', 1, 1],
  CEIL: ['agg.ceil', 1, 1],
  CEILING: ['agg.ceil', 1, 1],
  FLOOR: ['agg.floor', 1, 1],
  ROUND: ['agg.round', 1, 2],
  SQRT: ['agg.sqrt', 1, 1],
  POW: ['agg.pow', 2, 2],
  POWER: ['agg.pow', 2, 2],
  MOD: ['sql.mod', 2, 2],
  UPPER: ['sql.upper', 1, 1],
  LOWER: ['sql.lower', 1, 1],
  CHAR_LENGTH: ['sql.length', 1, 1],
  CHARACTER_LENGTH: ['sql.length', 1, 1],
  LENGTH: ['sql.length', 1, 1],
  SUBSTRING: ['sql.substring', 2, 3],
  COALESCE: ['agg.ifNull', 1, 100],
  SIZE: ['sql.size', 1, 1],
  YEAR: ['agg.year', 1, 1],
  MONTH: ['agg.month', 1, 1],
  DAY: ['agg.dayOfMonth', 1, 1],
  HOUR: ['agg.hour', 1, 1],
  MINUTE: ['agg.minute', 1, 1],
  SECOND: ['agg.second', 1, 1],
};

const aggregates: readonly string[] = [
  'COUNT',
  'SUM',
  'AVG',
  'MIN',
  'MAX',
  'FIRST',
  'LAST',
  'ADD_TO_ARRAY',
  'ADD_TO_SET',
];
const laterAggregates: readonly string[] = ['STDDEV_POP', 'STDDEV_SAMP', 'MERGE_DOCUMENTS'];
const laterFunctions: readonly string[] = [
  ...[
    'BIT_LENGTH',
    'COS',
    'DATEADD',
    'DATEDIFF',
    'DEGREES',
    'LOG',
    'LOG10',
    'OCTET_LENGTH',
    'POSITION',
    'RADIANS',
    'REPLACE',
  ],
  ...['SIN', 'SLICE', 'SPLIT', 'TAN', 'TRIM', 'USER'],
];
const special: readonly string[] = ['NULLIF', 'EXTRACT', 'DATETRUNC', 'CURRENT_TIMESTAMP'];

/** A call, or undefined where the word is a plain name. */
export function parseFunction(cursor: Cursor, below: () => SqlNode): SqlNode | undefined {
  const at = cursor.peek();
  const name = at.text.toUpperCase();
  if (cursor.peek(1).kind === 'string') return parseTypedLiteral(cursor, at, name);
  if (name === 'CURRENT_TIMESTAMP') {
    cursor.next();
    if (cursor.take('(')) cursor.expect(')', 'after CURRENT_TIMESTAMP(');
    return { k: 'call', fn: 'now', args: [], at };
  }
  cursor.next();
  cursor.next();
  if (aggregates.includes(name)) return parseAggregate(cursor, at, name, below);
  if (laterAggregates.includes(name) || laterFunctions.includes(name)) throw later(at, name);
  if (name === 'EXTRACT') return parseExtract(cursor, at, below);
  const args = parseArguments(cursor, name, below);
  if (name === 'NULLIF' && args.length === 2) {
    const nothing: SqlNode = { k: 'literal', value: null, at };
    return { k: 'call', fn: 'sql.case', args: [{ k: 'call', fn: 'sql.eq', args, at }, nothing, args[0]!], at };
  }
  if (name === 'DATETRUNC' && args.length === 2) return dateTrunc(at, args);
  const scalar = Object.hasOwn(scalars, name) ? scalars[name] : undefined;
  if (scalar === undefined) {
    if (name === 'DATE') refuseDate(at, name);
    const known = [...Object.keys(scalars), ...aggregates, ...special, 'CAST'];
    const meant = nearest(name, known);
    throw fault(
      at,
      `unknown function ${at.text}`,
      meant ? `did you mean ${meant}?` : `the functions are ${known.join(', ')}`,
    );
  }
  const [fn, least, most] = scalar;
  if (args.length < least || args.length > most) {
    throw fault(at, `${name} takes ${least === most ? least : `${least} to ${most}`} arguments, found ${args.length}`);
  }
  if (name === 'COALESCE') return { k: 'call', fn, args: [...args, { k: 'literal', value: null, at }], at };
  return { k: 'call', fn, args, at };
}

function parseTypedLiteral(cursor: Cursor, at: Token, name: string): SqlNode | undefined {
  refuseDate(at, name);
  if (name !== 'TIMESTAMP') return undefined;
  cursor.next();
  const text = cursor.next();
  return { k: 'call', fn: 'sql.castTimestamp', args: [{ k: 'literal', value: text.text, at: text }], at };
}

function parseAggregate(cursor: Cursor, at: Token, fn: string, below: () => SqlNode): SqlNode {
  if (cursor.take('*')) {
    if (fn !== 'COUNT') throw fault(at, `${fn} takes a value, found *`, 'only COUNT(*) counts rows');
    cursor.expect(')', 'after COUNT(*');
    return { k: 'aggregate', fn, arg: undefined, distinct: false, at };
  }
  const distinct = cursor.take('DISTINCT');
  if (!distinct) cursor.take('ALL');
  const arg = below();
  cursor.expect(')', `to close ${fn}`);
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

/** EXTRACT(YEAR FROM x) is YEAR(x). */
function parseExtract(cursor: Cursor, at: Token, below: () => SqlNode): SqlNode {
  const part = cursor.next();
  const fn = ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND'].find((unit) => unit === part.text.toUpperCase());
  if (fn === undefined)
    throw fault(part, `EXTRACT does not know the unit ${part.text}`, 'use YEAR, MONTH, DAY, HOUR, MINUTE or SECOND');
  cursor.expect('FROM', 'after the unit of EXTRACT');
  const args = [below()];
  cursor.expect(')', 'to close EXTRACT');
  return { k: 'call', fn: scalars[fn]![0], args, at };
}

function dateTrunc(at: Token, args: readonly SqlNode[]): SqlNode {
  const [unit, date] = args;
  const text =
    unit!.k === 'column' && unit!.path.length === 1
      ? unit!.path[0]!.toLowerCase()
      : unit!.k === 'literal'
        ? unit!.value
        : undefined;
  if (typeof text !== 'string')
    throw fault(at, 'DATETRUNC takes a unit and a timestamp', "e.g. DATETRUNC('minute', time_received)");
  const rest = [text.toLowerCase(), 1, 'UTC', 'sunday'].map((value): SqlNode => ({ k: 'literal', value, at }));
  return { k: 'call', fn: 'agg.dateTrunc', args: [date!, ...rest], at };
}
