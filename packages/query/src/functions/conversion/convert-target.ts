/** The target of $convert: the type, the subtype of binary values, format, byte order and base. */

import { isNullish, isNumeric, type TypeName, typeName, typeNumbers } from '../../bson/type.ts';
import { BsonDocument, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { exactWhole } from '../numbers/number.ts';
import type { Format } from './convert-binary.ts';
import type { Base } from './convert-number.ts';

export interface Target {
  readonly type: TypeName;
  readonly subtype: number;
}

const byNumber: ReadonlyMap<number, TypeName> = new Map(
  Object.entries(typeNumbers).map(([name, number]) => [number, name as TypeName]),
);

/** Undefined for null: then the result is null. */
export function targetOf(to: Maybe): Target | undefined {
  if (isNullish(to)) return undefined;
  if (!(to instanceof BsonDocument)) return { type: typeOf(to), subtype: 0 };
  const type = to.get('type');
  if (type === undefined) throw new QueryError('FailedToParse', "$convert's 'to' needs a 'type'");
  return isNullish(type) ? undefined : { type: typeOf(type), subtype: subtypeOf(to.get('subtype')) };
}

function typeOf(value: Maybe): TypeName {
  if (typeof value === 'string') {
    if (Object.hasOwn(typeNumbers, value)) return value as TypeName;
    throw new QueryError('BadValue', `unknown type name: '${value.slice(0, 80)}'`);
  }
  if (!isNumeric(value)) {
    throw new QueryError(
      'FailedToParse',
      `$convert's 'to' must be the name or number of a type, found ${typeName(value)}`,
    );
  }
  const type = byNumber.get(Number(exactWhole(value) ?? Number.NaN));
  if (type === undefined) throw new QueryError('FailedToParse', "$convert's 'to' is not the number of a type");
  return type;
}

function subtypeOf(value: Maybe): number {
  if (isNullish(value)) return 0;
  if (!isNumeric(value)) {
    throw new QueryError(4341108, `the subtype of binData must be a number, found ${typeName(value)}`);
  }
  const subtype = Number(exactWhole(value) ?? Number.NaN);
  if (Number.isNaN(subtype)) throw new QueryError(4341106, 'the subtype of binData must be a whole number');
  if (subtype < 0 || subtype > 255 || (subtype > 9 && subtype < 128)) {
    throw new QueryError(4341107, `there is no subtype ${subtype} of binData`);
  }
  return subtype;
}

const formats: ReadonlySet<string> = new Set(['auto', 'base64', 'base64url', 'hex', 'utf8', 'uuid']);

export function formatOf(value: Maybe): Format {
  if (typeof value !== 'string') {
    throw new QueryError(4341114, `$convert's 'format' must be a string, found ${typeName(value)}`);
  }
  if (!formats.has(value)) {
    throw new QueryError(4341125, `unknown format '${value.slice(0, 80)}', expected ${[...formats].join(', ')}`);
  }
  return value as Format;
}

export function isLittleEndian(value: Maybe): boolean {
  if (typeof value !== 'string') {
    throw new QueryError(9130001, `$convert's 'byteOrder' must be a string, found ${typeName(value)}`);
  }
  if (value !== 'little' && value !== 'big') {
    throw new QueryError(9130002, `unknown byte order '${value.slice(0, 80)}', expected little or big`);
  }
  return value === 'little';
}

export function baseOf(value: Maybe): Base {
  const base = isNumeric(value) ? exactWhole(value) : undefined;
  if (base === undefined)
    throw new QueryError(3501300, `$convert's 'base' must be a whole number, found ${typeName(value)}`);
  if (base === 2n || base === 8n || base === 10n || base === 16n) return Number(base) as Base;
  throw new QueryError(3501301, `$convert's 'base' must be 2, 8, 10 or 16, found ${base}`);
}
