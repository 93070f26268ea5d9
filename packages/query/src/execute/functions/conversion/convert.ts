/** $convert, its short forms $toInt and the like, $type and $isNumber. */

import { isNullish, isNumeric, type TypeName, typeName } from '../../../bson/type.ts';
import type { Maybe } from '../../../bson/value.ts';
import { QueryError } from '../../../query-error.ts';
import { namedArguments } from '../named-arguments.ts';
import type { Eager, Lazy } from '../registry.ts';
import { baseOf, formatOf, isLittleEndian, targetOf } from './convert-target.ts';
import { type ConvertOptions, convertTo } from './convert-to.ts';

const plain: ConvertOptions = { littleEndian: true, base: undefined, format: 'auto', subtype: 0 };
const uuid: ConvertOptions = { ...plain, format: 'uuid', subtype: 4 };

export const conversion: Readonly<Record<string, Eager>> = {
  'agg.toString': to('string'),
  'agg.toInt': to('int'),
  'agg.toLong': to('long'),
  'agg.toDouble': to('double'),
  'agg.toDecimal': to('decimal'),
  'agg.toDate': to('date'),
  'agg.toBool': to('bool'),
  'agg.toObjectId': to('objectId'),
  'agg.toUUID': to('binData', uuid),
  'agg.type': (value) => typeName(value),
  'agg.isNumber': (value) => isNumeric(value),
};

export const conversionLazy: Readonly<Record<string, Lazy>> = { 'agg.convert': convert };

function to(type: TypeName, options: ConvertOptions = plain): Eager {
  return (value) => (isNullish(value) ? null : convertTo(type, value, options));
}

/** ConversionFailure, and a year that text cannot hold. */
const caught: ReadonlySet<number> = new Set([241, 18537]);

/** Arguments: the names of the named parts as a constant list, then their values. */
function convert(...[args]: Parameters<Lazy>): ReturnType<Lazy> {
  const given = namedArguments(args);
  const [input, onNull, onError] = [given.get('input')!, given.get('onNull'), given.get('onError')];
  const read = (name: string): ((frame: Parameters<ReturnType<Lazy>>[0]) => Maybe) =>
    given.get(name) ?? (() => undefined);
  const [target, format, byteOrder, base] = ['to', 'format', 'byteOrder', 'base'].map(read) as [
    ReturnType<typeof read>,
    ReturnType<typeof read>,
    ReturnType<typeof read>,
    ReturnType<typeof read>,
  ];
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
