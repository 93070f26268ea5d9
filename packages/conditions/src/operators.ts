/** The seven operators. Values of different types are never ordered, and are unequal. A missing field meets no condition. */

import { RE2JS, RE2JSException } from 're2js';
import { describe, equalJson, isObject, type Json } from './json.ts';
import { oneEvalPerField, Pattern } from './leaf.ts';

type Test = (left: Json) => boolean;

/** Builds the test of an operator, or returns the problem with its right operand. */
type Operator = (right: Json | Pattern) => Test | string;

const onlyRegex =
  'expected a different operand for this operator, found a regular expression; use the operator regex for it';

export const operators: Readonly<Record<string, Operator>> = {
  lt: ordering('lt', (order) => order < 0),
  lte: ordering('lte', (order) => order <= 0),
  gt: ordering('gt', (order) => order > 0),
  gte: ordering('gte', (order) => order >= 0),
  eq: (right) => (right instanceof Pattern ? onlyRegex : (left) => equalJson(left, right)),
  neq: (right) => (right instanceof Pattern ? onlyRegex : (left) => !equalJson(left, right)),
  regex: matching,
};

function ordering(name: string, holds: (order: number) => boolean): Operator {
  return (right) => {
    if (typeof right === 'number') return (left) => typeof left === 'number' && holds(left - right);
    if (typeof right === 'string')
      return (left) => typeof left === 'string' && holds(left < right ? -1 : left > right ? 1 : 0);
    const found = right instanceof Pattern ? 'a regular expression' : describe(right);
    const advice = isObject(right) ? `; only eq and neq compare objects: ${oneEvalPerField}` : '';
    return `expected a number or a string to compare with by ${name}, found ${found}${advice}`;
  };
}

/** Matches anywhere in the text, in linear time; therefore without look-around and back-references. */
function matching(right: Json | Pattern): Test | string {
  if (typeof right !== 'string' && !(right instanceof Pattern))
    return `expected a pattern as a string for regex, found ${describe(right)}`;
  const { source, options } = right instanceof Pattern ? right : { source: right, options: '' };
  let flags = 0;
  for (const option of options) {
    if (option === 'i') flags |= RE2JS.CASE_INSENSITIVE;
    else if (option === 'm') flags |= RE2JS.MULTILINE;
    else if (option === 's') flags |= RE2JS.DOTALL;
    else return `expected the regular expression options i, m or s, found '${option}'`;
  }
  try {
    const pattern = RE2JS.compile(source, flags);
    return (left) => typeof left === 'string' && pattern.matcher(left).find();
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return `expected a regular expression, found ${describe(source)}: ${error.message} (look-around and back-references are not supported)`;
  }
}
