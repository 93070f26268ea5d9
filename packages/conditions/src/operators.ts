/** The seven operators. Values of different types are never ordered, and are unequal. A missing field meets no condition. */

import { describe, equalJson, isObject, type Json } from './json.ts';
import { dateMs, Instant, type Operand, oneEvalPerField, Pattern } from './leaf.ts';
import { compilePattern } from './pattern.ts';

type Test = (left: Json) => boolean;

/** Builds the test of an operator, or returns the problem with its right operand. */
type Operator = (right: Operand) => Test | string;

const onlyRegex =
  'expected a different operand for this operator, found a regular expression; use the operator regex for it';

type Compare = (left: number | string, right: number | string) => boolean;

export const operators: Readonly<Record<string, Operator>> = {
  lt: ordering('lt', (left, right) => left < right),
  lte: ordering('lte', (left, right) => left <= right),
  gt: ordering('gt', (left, right) => left > right),
  gte: ordering('gte', (left, right) => left >= right),
  eq: equality(true),
  neq: equality(false),
  regex: matching,
};

function equality(wanted: boolean): Operator {
  return (right) => {
    if (right instanceof Pattern) return onlyRegex;
    if (right instanceof Instant) return (left) => (instantOf(left) === right.ms) === wanted;
    if (typeof right === 'object') return (left) => equalJson(left, right) === wanted;
    return (left) => (left === right) === wanted;
  };
}

/** Numbers by value, texts by their UTF-16 code units, dates by the instant. */
function ordering(name: string, holds: Compare): Operator {
  return (right) => {
    if (typeof right === 'number') return (left) => typeof left === 'number' && holds(left, right);
    if (typeof right === 'string') return (left) => typeof left === 'string' && holds(left, right);
    if (right instanceof Instant) {
      return (left) => {
        const ms = instantOf(left);
        return ms !== undefined && holds(ms, right.ms);
      };
    }
    const found = right instanceof Pattern ? 'a regular expression' : describe(right);
    const advice = isObject(right) ? `; only eq and neq compare objects: ${oneEvalPerField}` : '';
    return `expected a number or a string to compare with by ${name}, found ${found}${advice}`;
  };
}

function instantOf(value: Json): number | undefined {
  return typeof value === 'string' ? dateMs(value) : undefined;
}

/** Matches anywhere in the text. */
function matching(right: Operand): Test | string {
  if (typeof right !== 'string' && !(right instanceof Pattern))
    return `expected a pattern as a string for regex, found ${right instanceof Instant ? 'a date' : describe(right)}`;
  const { source, options } = right instanceof Pattern ? right : { source: right, options: '' };
  const matches = compilePattern(source, options);
  return typeof matches === 'string' ? matches : (left) => typeof left === 'string' && matches(left);
}
