/** $trim, $ltrim, $rtrim, $replaceOne, $replaceAll, $regexMatch, $regexFind and $regexFindAll. */

import { call, literal } from '../../plan/expr.ts';
import type { SpecialForm } from './form.ts';
import { type Fields, namedParts } from './named-parts.ts';

const trimFields: Fields = {
  required: ['input'],
  optional: ['chars'],
  notObject: 50696,
  unknown: 50694,
  missing: 50695,
};

const replaceFields: Fields = {
  required: ['input', 'find', 'replacement'],
  optional: [],
  notObject: 51751,
  unknown: 51750,
  missing: { input: 51749, find: 51748, replacement: 51747 },
};

const regexFields: Fields = {
  required: ['input', 'regex'],
  optional: ['options'],
  notObject: 51103,
  unknown: 31024,
  missing: { input: 31022, regex: 31023 },
};

export const stringForms: Readonly<Record<string, SpecialForm>> = {
  ...Object.fromEntries(['trim', 'ltrim', 'rtrim'].map((name) => [`$${name}`, trimForm(name)])),
  ...Object.fromEntries(['replaceOne', 'replaceAll'].map((name) => [`$${name}`, replaceForm(name)])),
  ...Object.fromEntries(['regexMatch', 'regexFind', 'regexFindAll'].map((name) => [`$${name}`, regexForm(name)])),
};

function trimForm(name: string): SpecialForm {
  return (operand, at, _vars, parse) => {
    const parts = namedParts(operand, at, trimFields);
    const chars = parts.get('chars');
    const args = [parse(parts.get('input')!), ...(chars === undefined ? [] : [parse(chars)])];
    return call(`agg.${name}`, args, at);
  };
}

function replaceForm(name: string): SpecialForm {
  return (operand, at, _vars, parse) => {
    const parts = namedParts(operand, at, replaceFields);
    const args = replaceFields.required.map((part) => parse(parts.get(part)!));
    return call(`agg.${name}`, args, at);
  };
}

function regexForm(name: string): SpecialForm {
  return (operand, at, _vars, parse) => {
    const parts = namedParts(operand, at, regexFields);
    const options = parts.get('options');
    const args = [parse(parts.get('input')!), parse(parts.get('regex')!)];
    return call(`agg.${name}`, [...args, options === undefined ? literal(undefined) : parse(options)], at);
  };
}
