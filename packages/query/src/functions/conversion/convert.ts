/** $convert, its short forms such as $toInt, $type and $isNumber. */
import { isNullish, isNumeric, type TypeName, typeName, typeNumbers } from '../../bson/type.ts';
import { BsonDocument, type Maybe } from '../../bson/value.ts';
import type { Evaluate } from '../../execute/expressions/scope.ts';
import { malformed, QueryError } from '../../query-error.ts';
import { eager, type FunctionDefinition, type Functions, lazy } from '../definition.ts';
import { argumentsByName, callWithNames, type Fields, namedFields } from '../named-fields.ts';
import { exactWhole } from '../numbers/number.ts';
import type { Format } from './convert-binary.ts';
import type { Base } from './convert-number.ts';
import { type ConvertOptions, convertTo } from './convert-to.ts';

const plain: ConvertOptions = { littleEndian: true, base: undefined, format: 'auto', subtype: 0 };
const uuid: ConvertOptions = { ...plain, format: 'uuid', subtype: 4 };

const failedToParse = 9;

const convertFields: Fields = {
  required: { input: failedToParse, to: failedToParse },
  optional: ['onError', 'onNull', 'format', 'byteOrder', 'base'],
  notObject: failedToParse,
  unknown: failedToParse,
};

export const conversion: Functions = {
  'agg.toString': { ...to('string'), size: 'grows', numberTypes: 'none' },
  'agg.toInt': { ...to('int'), size: 'bounded', folding: 'early', numberTypes: 'int' },
  'agg.toLong': { ...to('long'), size: 'bounded', folding: 'early', numberTypes: 'long' },
  'agg.toDouble': { ...to('double'), size: 'bounded', folding: 'early' },
  'agg.toDecimal': to('decimal'),
  'agg.toDate': { ...to('date'), size: 'bounded', folding: 'early' },
  'agg.toBool': { ...to('bool'), size: 'bounded', numberTypes: 'none' },
  'agg.toObjectId': to('objectId'),
  'agg.toUUID': to('binData', uuid),
  'agg.type': eager({ mql: 1, size: 'bounded', neverFails: true, numberTypes: 'none' }, (value) => typeName(value)),
  'agg.isNumber': eager({ mql: 1, size: 'bounded', neverFails: true, numberTypes: 'none' }, (value) =>
    isNumeric(value),
  ),
  'agg.convert': lazy(
    {
      mql: (operand, context) => callWithNames('agg.convert', namedFields(operand, convertFields), context),
    },
    convert,
  ),
};

function to(type: TypeName, options: ConvertOptions = plain): FunctionDefinition {
  return { mql: 1, arityCode: 50723, eager: (value) => converted(value, type, options) };
}

export function converted(value: Maybe, type: TypeName, options: ConvertOptions = plain): Maybe {
  return isNullish(value) ? null : convertTo(type, value, options);
}

/** ConversionFailure, and a year that text cannot represent. */
const caught: ReadonlySet<number> = new Set([241, 18537]);

function convert(args: readonly Evaluate[]): Evaluate {
  const given = argumentsByName(args);
  const [input, onNull, onError] = [given.get('input')!, given.get('onNull'), given.get('onError')];
  const read = (name: string): Evaluate => given.get(name) ?? (() => undefined);
  const [target, format, byteOrder, base] = [read('to'), read('format'), read('byteOrder'), read('base')];
  return (frame) => {
    const into = targetOf(target(frame));
    const value = input(frame);
    if (isNullish(value)) return onNull === undefined ? null : onNull(frame);
    if (into === undefined) return null;
    const [formatValue, orderValue, baseValue] = [format(frame), byteOrder(frame), base(frame)];
    const options: ConvertOptions = {
      subtype: into.subtype,
      format: isNullish(formatValue) ? undefined : formatOf(formatValue),
      littleEndian: isNullish(orderValue) || isLittleEndian(orderValue),
      base: isNullish(baseValue) ? undefined : baseOf(baseValue),
    };
    try {
      return convertTo(into.type, value, options);
    } catch (error) {
      if (onError !== undefined && error instanceof QueryError && caught.has(error.code)) return onError(frame);
      throw error;
    }
  };
}

interface Target {
  readonly type: TypeName;
  readonly subtype: number;
}

const byNumber: ReadonlyMap<number, TypeName> = new Map(
  Object.entries(typeNumbers).map(([name, number]) => [number, name as TypeName]),
);

/**
 * The target of $convert: the type, the subtype of binary values, format, byte order and base. Undefined for null: then the result is null.
 */
function targetOf(to: Maybe): Target | undefined {
  if (isNullish(to)) return undefined;
  if (!(to instanceof BsonDocument)) return { type: typeOf(to), subtype: 0 };
  const type = to.get('type');
  if (type === undefined) throw malformed("$convert's 'to' needs a 'type'");
  return isNullish(type) ? undefined : { type: typeOf(type), subtype: subtypeOf(to.get('subtype')) };
}

function typeOf(value: Maybe): TypeName {
  if (typeof value === 'string') {
    if (Object.hasOwn(typeNumbers, value)) return value as TypeName;
    throw new QueryError('BadValue', `unknown type name: '${value.slice(0, 80)}'`);
  }
  if (!isNumeric(value)) {
    throw malformed(`$convert's 'to' must be the name or number of a type, found ${typeName(value)}`);
  }
  const type = byNumber.get(Number(exactWhole(value) ?? Number.NaN));
  if (type === undefined) throw malformed("$convert's 'to' is not the number of a type");
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

function formatOf(value: Maybe): Format {
  if (typeof value !== 'string') {
    throw new QueryError(4341114, `$convert's 'format' must be a string, found ${typeName(value)}`);
  }
  if (!formats.has(value)) {
    throw new QueryError(4341125, `unknown format '${value.slice(0, 80)}', expected ${[...formats].join(', ')}`);
  }
  return value as Format;
}

function isLittleEndian(value: Maybe): boolean {
  if (typeof value !== 'string') {
    throw new QueryError(9130001, `$convert's 'byteOrder' must be a string, found ${typeName(value)}`);
  }
  if (value !== 'little' && value !== 'big') {
    throw new QueryError(9130002, `unknown byte order '${value.slice(0, 80)}', expected little or big`);
  }
  return value === 'little';
}

function baseOf(value: Maybe): Base {
  const base = isNumeric(value) ? exactWhole(value) : undefined;
  if (base === undefined)
    throw new QueryError(3501300, `$convert's 'base' must be a whole number, found ${typeName(value)}`);
  if (base === 2n || base === 8n || base === 10n || base === 16n) return Number(base) as Base;
  throw new QueryError(3501301, `$convert's 'base' must be 2, 8, 10 or 16, found ${base}`);
}
