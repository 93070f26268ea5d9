/** SQL function calls: scalar functions, aggregates, typed literals such as TIMESTAMP '…'. */
import type { BsonValue } from '../../bson/value.ts';
import { parseDate } from '../../functions/dates/date-text.ts';
import { sqlAggregates, sqlFunctions } from '../functions.ts';
import type { SqlNode } from './ast.ts';
import { refuseDate } from './cast.ts';
import { type Cursor, fault } from './cursor.ts';
import { dateAliases, dateFunctions, parseExtract } from './date-function.ts';
import { functionHint } from './dialect-hints.ts';
import { nearest } from './keywords.ts';
import type { Token } from './lex.ts';

const special: readonly string[] = [
  ...['EXTRACT', 'DATEADD', 'DATEDIFF', 'DATETRUNC', 'CURRENT_TIMESTAMP', 'NOW'],
  ...['TRIM', 'LTRIM', 'RTRIM', 'POSITION'],
];

/** A call, or undefined if the word is a plain name. */
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
  if (sqlAggregates.has(name)) return parseAggregate(cursor, at, name, below);
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
  const calls = sqlFunctions.get(name);
  if (calls === undefined) {
    if (name === 'DATE') refuseDate(at, name);
    const known = [...sqlFunctions.keys(), ...sqlAggregates.keys(), ...special, 'CAST'];
    const other = functionHint(name);
    const meant = nearest(name, known);
    const hint = meant ? `did you mean ${meant}?` : `the functions are ${known.join(', ')}`;
    throw fault(at, `unknown function ${at.text}`, other ?? hint);
  }
  const call = calls.find(({ least, most }) => args.length >= least && args.length <= most);
  if (call === undefined) {
    const [least, most] = [Math.min(...calls.map((each) => each.least)), Math.max(...calls.map((each) => each.most))];
    throw fault(at, `${name} takes ${least === most ? least : `${least} to ${most}`} arguments, found ${args.length}`);
  }
  return { k: 'call', fn: call.fn, args: [...args, ...call.added.map((value) => literal(value, at))], at };
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

/** TRIM([LEADING | TRAILING | BOTH] [characters] [FROM] text); the default characters are a blank. */
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

/** POSITION(part IN text): from 0; the part is not parsed as a condition with IN. */
function parsePosition(cursor: Cursor, at: Token, below: (power?: number) => SqlNode): SqlNode {
  const part = below(40);
  cursor.expect('IN', 'between the two texts of POSITION');
  const text = below();
  cursor.expect(')', 'to close POSITION');
  return { k: 'call', fn: 'sql.position', args: [part, text], at };
}

/** TIMESTAMP '…', {ts '…'} and {d '…'}: an invalid time is refused. CAST of such a text is null, like every cast that fails. */
export function writtenTime(text: Token, at: Token): SqlNode {
  if (parseDate(text.text) === undefined) {
    const hint = "write it as ISO 8601, e.g. '2026-01-31T12:00:00Z'";
    throw fault(text, `'${text.text.slice(0, 80)}' is not a timestamp`, hint);
  }
  return { k: 'call', fn: 'sql.castTimestamp', args: [{ k: 'literal', value: text.text, at: text }], at };
}
