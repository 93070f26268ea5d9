/** Operators whose argument is an object with named parts, or that bind variables; a file for each family in forms/. */

import { BsonDocument, type BsonValue } from '../bson/value.ts';
import { call, type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import { arrayForms } from './forms/arrays.ts';
import { conditionalForms } from './forms/conditional.ts';
import { foldForms } from './forms/folds.ts';
import type { ParseBelow, SpecialForm } from './forms/form.ts';
import { metaForms } from './forms/meta.ts';
import { namedParts } from './forms/named-parts.ts';
import { numberForms } from './forms/numbers.ts';
import { objectForms } from './forms/objects.ts';
import { stringForms } from './forms/strings.ts';
import { variableForms } from './forms/variables.ts';

export const specialForms: Readonly<Record<string, SpecialForm>> = {
  $literal: (operand) => literal(operand),
  $const: (operand) => literal(operand),
  ...arrayForms,
  ...conditionalForms,
  ...foldForms,
  ...metaForms,
  ...objectForms,
  ...stringForms,
  ...variableForms,
  ...numberForms,
  $dateTrunc: parseDateTrunc,
  $dateToString: parseDateToString,
  ...Object.fromEntries(
    ['year', 'month', 'dayOfMonth', 'hour', 'minute', 'second', 'millisecond', 'dayOfWeek', 'dayOfYear'].map((part) => [
      `$${part}`,
      datePart(part),
    ]),
  ),
};

/** `{$year: date}`, `{$year: [date]}` or `{$year: {date, timezone}}`. */
function datePart(part: string): SpecialForm {
  return (operand, at, _vars, parse) => {
    if (operand instanceof BsonDocument && ![...operand.keys()][0]?.startsWith('$')) {
      const parts = namedParts(operand, at, {
        required: ['date'],
        optional: ['timezone'],
        notObject: 40535,
        unknown: 40535,
        missing: 40539,
      });
      const zone = parts.get('timezone');
      return call(`agg.${part}`, [parse(parts.get('date')!), ...(zone === undefined ? [] : [parse(zone)])], at);
    }
    const operands = Array.isArray(operand) ? operand : [operand];
    if (operands.length !== 1) {
      throw new QueryError(40536, `$${part} takes exactly one date, found ${operands.length} arguments`, { path: at });
    }
    return call(`agg.${part}`, [parse(operands[0]!)], at);
  };
}

/** Arguments in turn: date, unit, binSize, timezone, startOfWeek; absent ones are missing literals. */
function parseDateTrunc(operand: BsonValue, at: string, _vars: readonly string[], parse: ParseBelow): Expr {
  const parts = namedParts(operand, at, {
    required: ['date', 'unit'],
    optional: ['binSize', 'timezone', 'startOfWeek'],
    notObject: 5439007,
    unknown: 5439008,
    missing: { date: 5439009, unit: 5439010 },
  });
  const defaults = BsonDocument.of({ binSize: 1, timezone: 'UTC', startOfWeek: 'sunday' });
  const names = ['date', 'unit', 'binSize', 'timezone', 'startOfWeek'];
  return call(
    'agg.dateTrunc',
    names.map((name) => parse(parts.has(name) ? parts.get(name)! : defaults.get(name)!)),
    at,
  );
}

/** Arguments in turn: date, format, timezone, and onNull if there is one. */
function parseDateToString(operand: BsonValue, at: string, _vars: readonly string[], parse: ParseBelow): Expr {
  const parts = namedParts(operand, at, {
    required: ['date'],
    optional: ['format', 'timezone', 'onNull'],
    notObject: 18629,
    unknown: 18534,
    missing: 18628,
  });
  const format = parts.has('format') ? parts.get('format')! : '%Y-%m-%dT%H:%M:%S.%LZ';
  const onNull = parts.get('onNull');
  const args = [
    parts.get('date')!,
    format,
    parts.has('timezone') ? parts.get('timezone')! : 'UTC',
    ...(onNull === undefined ? [] : [onNull]),
  ];
  return call(
    'agg.dateToString',
    args.map((arg) => parse(arg)),
    at,
  );
}
