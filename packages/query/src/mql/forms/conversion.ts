/** $convert: its arguments are named, and most may be absent; $toHashedIndexKey, to which a list is one value. */

import { call, literal } from '../../plan/expr.ts';
import type { SpecialForm } from './form.ts';
import { namedParts } from './named-parts.ts';

const failedToParse = 9;

export const conversionForms: Readonly<Record<string, SpecialForm>> = {
  $convert: (operand, at, _vars, parse) => {
    const given = namedParts(operand, at, {
      required: ['input', 'to'],
      optional: ['onError', 'onNull', 'format', 'byteOrder', 'base'],
      notObject: failedToParse,
      unknown: failedToParse,
      missing: failedToParse,
    });
    const values = [...given.values()].map((value) => parse(value));
    return call('agg.convert', [literal([...given.keys()]), ...values], at);
  },
  $toHashedIndexKey: (operand, at, _vars, parse) => call('agg.toHashedIndexKey', [parse(operand)], at),
};
