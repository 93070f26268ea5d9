/** Numbers in SQL: outside of what a function is defined for, its value is null; parts of times. */

import { compareValues } from '../../../bson/compare.ts';
import { isNullish } from '../../../bson/type.ts';
import { Int32, type Maybe } from '../../../bson/value.ts';
import { dateParts } from '../dates/date-parts.ts';
import { logarithms } from '../numbers/logarithms.ts';
import { rounding } from '../numbers/rounding.ts';
import { trigonometry } from '../numbers/trigonometry.ts';
import type { Eager } from '../registry.ts';

export const sqlNumber: Readonly<Record<string, Eager>> = {
  'sql.sqrt': (value) => {
    if (isNotANumber(value)) return Number.NaN;
    return isNullish(value) || isBelow(value, 0) ? null : logarithms['agg.sqrt']!(value);
  },
  'sql.log': (value, base) => {
    if (isNotANumber(value) || isNotANumber(base)) return isNullish(value) || isNullish(base) ? null : Number.NaN;
    const none = isNullish(value) || isNullish(base) || isBelow(value, 0, true) || isBelow(base, 0, true);
    return none || compareValues(base, 1) === 0 ? null : logarithms['agg.log']!(value, base);
  },
  'sql.round': (value, place) => {
    if (isNotANumber(place)) return isNullish(value) ? null : Number.NaN;
    const isOutside = isNullish(place) || isBelow(place, -20) || compareValues(place, 100) > 0;
    return isOutside ? null : rounding['agg.round']!(value, place);
  },
  'sql.sin': finite('agg.sin'),
  'sql.cos': finite('agg.cos'),
  'sql.tan': finite('agg.tan'),
  'sql.quarter': (value) => {
    const month = dateParts['agg.month']!(value);
    return month instanceof Int32 ? new Int32(Math.ceil(month.value / 3)) : null;
  },
};

function finite(name: string): Eager {
  return (value) => {
    const endless = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].some(
      (each) => compareValues(value, each) === 0,
    );
    return endless ? null : trigonometry[name]!(value);
  };
}

function isNotANumber(value: Maybe): boolean {
  return compareValues(value, Number.NaN) === 0;
}

function isBelow(value: Maybe, bound: number, orEqual = false): boolean {
  const order = compareValues(value, bound);
  return order < 0 || (orEqual && order === 0);
}
