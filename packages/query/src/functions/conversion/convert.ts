/** $convert, its short forms such as $toInt, $type and $isNumber. */

import { isNullish, isNumeric, type TypeName, typeName } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import type { Evaluate } from '../../execute/expressions/scope.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type FunctionDefinition, type Functions, lazy } from '../definition.ts';
import { argumentsByName, callWithNames, type Fields, namedFields } from '../named-fields.ts';
import { baseOf, formatOf, isLittleEndian, targetOf } from './convert-target.ts';
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
