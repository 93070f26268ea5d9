/** CAST(x AS type, … ON NULL, … ON ERROR), x::type, x::!type and x IS type. */

import type { TypeName } from '../../bson/type.ts';
import { numbers } from '../types/kind.ts';
import type { SqlNode } from './ast.ts';
import { type Cursor, fault } from './cursor.ts';
import { nearest } from './keywords.ts';
import type { Token } from './lex.ts';

const types: Readonly<Record<string, TypeName>> = {
  ...{ DOUBLE: 'double', FLOAT: 'double', REAL: 'double' },
  ...{ INT: 'int', INTEGER: 'int', SMALLINT: 'int', LONG: 'long', BIGINT: 'long' },
  ...{ DECIMAL: 'decimal', NUMERIC: 'decimal', DEC: 'decimal' },
  ...{ STRING: 'string', VARCHAR: 'string', CHAR: 'string', CHARACTER: 'string', TEXT: 'string' },
  ...{ BOOL: 'bool', BOOLEAN: 'bool', BIT: 'bool', TIMESTAMP: 'date', BSON_DATE: 'date', OBJECTID: 'objectId' },
  ...{ DOCUMENT: 'object', ARRAY: 'array', BINDATA: 'binData', UNDEFINED: 'undefined', NULL: 'null' },
  ...{ BSON_TIMESTAMP: 'timestamp', REGEX: 'regex', DBPOINTER: 'dbPointer', SYMBOL: 'symbol' },
  ...{ JAVASCRIPT: 'javascript', JAVASCRIPTWITHSCOPE: 'javascriptWithScope', MINKEY: 'minKey', MAXKEY: 'maxKey' },
};

/** The function of the plan that casts to a type; other types have none. */
const casts: Partial<Record<TypeName, string>> = {
  ...{ double: 'sql.castDouble', int: 'sql.castInt', long: 'sql.castLong', decimal: 'sql.castDecimal' },
  ...{ string: 'sql.castString', bool: 'sql.castBool', date: 'sql.castTimestamp', objectId: 'sql.castObjectId' },
  ...{ object: 'sql.castDocument', array: 'sql.castArray', null: 'sql.castNull' },
};

/** @param operand the value before `::`; absent for CAST( … ). */
export function parseCast(cursor: Cursor, below: () => SqlNode, operand?: SqlNode): SqlNode {
  const at = cursor.next();
  if (operand !== undefined) return { k: 'call', fn: castOf(cursor), args: [operand], at };
  cursor.expect('(', 'after CAST');
  const value = below();
  cursor.expect('AS', 'between the value and the type of CAST');
  const fn = castOf(cursor);
  let onNull: SqlNode | undefined;
  let onError: SqlNode | undefined;
  while (cursor.take(',')) {
    const otherwise = below();
    cursor.expect('ON', 'and NULL or ERROR');
    if (onNull === undefined && cursor.take('NULL')) onNull = otherwise;
    else if (onError === undefined && cursor.take('ERROR')) onError = otherwise;
    else throw cursor.unexpected('NULL or ERROR', ['NULL', 'ERROR']);
  }
  cursor.expect(')', 'to close CAST');
  if (onNull === undefined && onError === undefined) return { k: 'call', fn, args: [value], at };
  const nothing: SqlNode = { k: 'literal', value: null, at };
  const isNull: SqlNode = { k: 'call', fn: 'sql.isNull', args: [value], at };
  const made: SqlNode = { k: 'call', fn, args: [value], at };
  const cast: SqlNode = onError === undefined ? made : { k: 'call', fn: 'agg.ifNull', args: [made, onError], at };
  // Null is not an error: it stays null if only ON ERROR is given.
  return { k: 'call', fn: 'sql.case', args: [isNull, onNull ?? nothing, cast], at };
}

export function parseAssert(cursor: Cursor, of: SqlNode): SqlNode {
  const at = cursor.next();
  return { k: 'assert', of, type: parseType(cursor), at };
}

/** After IS or IS NOT. */
export function typeTest(cursor: Cursor, value: SqlNode, at: Token): SqlNode {
  if (cursor.take('NULL')) return { k: 'call', fn: 'sql.isNull', args: [value], at };
  if (cursor.take('MISSING')) return { k: 'call', fn: 'sql.isMissing', args: [value], at };
  const names = cursor.take('NUMBER') ? numbers : [parseType(cursor)];
  const listed = names.map((name): SqlNode => ({ k: 'literal', value: name, at }));
  return { k: 'call', fn: 'sql.isType', args: [value, ...listed], at };
}

function castOf(cursor: Cursor): string {
  const token = cursor.peek();
  const type = parseType(cursor);
  const fn = casts[type];
  if (fn === undefined)
    throw fault(token, `there is no cast to ${token.text}`, `cast to one of ${castable().join(', ')}`);
  return fn;
}

function castable(): string[] {
  return Object.keys(types).filter((name) => casts[types[name]!] !== undefined);
}

function parseType(cursor: Cursor): TypeName {
  const token = cursor.peek();
  if (token.kind !== 'word') throw cursor.unexpected('a type', Object.keys(types));
  cursor.next();
  const name = token.text.toUpperCase();
  refuseDate(token, name);
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type === undefined) {
    const meant = nearest(name, Object.keys(types));
    const hint = meant ? `did you mean ${meant}?` : `the types are ${Object.keys(types).join(', ')}`;
    throw fault(token, `unknown type ${token.text}`, hint);
  }
  if (name === 'DOUBLE') cursor.take('PRECISION');
  if (name === 'CHARACTER' || name === 'CHAR') cursor.take('VARYING');
  if (cursor.take('(')) {
    do cursor.next();
    while (cursor.take(','));
    cursor.expect(')', 'after the length of the type');
  }
  return type;
}

export function refuseDate(token: Token, name: string): void {
  if (name === 'DATE' || name === 'TIME')
    throw fault(token, `the type ${name.toLowerCase()} is not supported`, 'use timestamp');
}
