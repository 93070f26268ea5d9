/** CAST(x AS type) and x::type. A value that cannot be cast becomes null. */

import type { SqlNode } from './ast.ts';
import { type Cursor, fault, later } from './cursor.ts';
import { nearest } from './keywords.ts';
import type { Token } from './lex.ts';

const casts: Readonly<Record<string, string>> = {
  TIMESTAMP: 'sql.castTimestamp',
  BSON_DATE: 'sql.castTimestamp',
  DOUBLE: 'sql.castDouble',
  FLOAT: 'sql.castDouble',
  REAL: 'sql.castDouble',
  INT: 'sql.castInt',
  INTEGER: 'sql.castInt',
  SMALLINT: 'sql.castInt',
  LONG: 'sql.castLong',
  BIGINT: 'sql.castLong',
  STRING: 'sql.castString',
  VARCHAR: 'sql.castString',
  CHAR: 'sql.castString',
  CHARACTER: 'sql.castString',
  TEXT: 'sql.castString',
  BOOL: 'sql.castBool',
  BOOLEAN: 'sql.castBool',
  BIT: 'sql.castBool',
};

const laterTypes: readonly string[] = ['DECIMAL', 'NUMERIC', 'DEC', 'OBJECTID', 'DOCUMENT', 'ARRAY', 'BINDATA'];

/** @param operand the value before `::`; absent for CAST( … ). */
export function parseCast(cursor: Cursor, below: () => SqlNode, operand?: SqlNode): SqlNode {
  const at = cursor.next();
  if (operand !== undefined) return { k: 'call', fn: typeOf(cursor), args: [operand], at };
  cursor.expect('(', 'after CAST');
  const value = below();
  cursor.expect('AS', 'between the value and the type of CAST');
  const fn = typeOf(cursor);
  if (cursor.take(',')) throw later(at, 'CAST with ON NULL or ON ERROR');
  cursor.expect(')', 'to close CAST');
  return { k: 'call', fn, args: [value], at };
}

function typeOf(cursor: Cursor): string {
  const token = cursor.peek();
  if (token.kind !== 'word') throw cursor.unexpected('a type', Object.keys(casts));
  cursor.next();
  const name = token.text.toUpperCase();
  refuseDate(token, name);
  if (laterTypes.includes(name)) throw later(token, `the type ${name}`);
  const fn = Object.hasOwn(casts, name) ? casts[name] : undefined;
  if (fn === undefined) {
    const meant = nearest(name, Object.keys(casts));
    throw fault(
      token,
      `unknown type ${token.text}`,
      meant ? `did you mean ${meant}?` : `the types are ${Object.keys(casts).join(', ')}`,
    );
  }
  if (name === 'DOUBLE') cursor.take('PRECISION');
  if (cursor.take('(')) {
    cursor.next();
    cursor.expect(')', 'after the length of the type');
  }
  return fn;
}

export function refuseDate(token: Token, name: string): void {
  if (name === 'DATE' || name === 'TIME')
    throw fault(token, `the type ${name.toLowerCase()} is not supported`, 'use timestamp');
}
