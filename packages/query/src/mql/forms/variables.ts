/** $let, $map, $filter and $reduce: the operators that bind variables. */

import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';
import type { SpecialForm } from './form.ts';
import { namedParts } from './named-parts.ts';

export const variableForms: Readonly<Record<string, SpecialForm>> = {
  $let: (operand, at, vars, parse) => {
    const parts = namedParts(operand, at, {
      required: ['vars', 'in'],
      optional: [],
      notObject: 16874,
      unknown: 16875,
      missing: { vars: 16876, in: 16877 },
    });
    const bound = variablesOf(parts.get('vars')!, at);
    const names = [...bound.keys()].map((name) => variableName(name, at));
    const args = [...bound.values()].map((value) => parse(value));
    const body = parse(parts.get('in')!, `${at}.in`, [...vars, ...names]);
    return { k: 'bind', fn: 'let', vars: names, args, body, at };
  },

  $map: (operand, at, vars, parse) => {
    const parts = namedParts(operand, at, {
      required: ['input', 'in'],
      optional: ['as'],
      notObject: 16878,
      unknown: 16879,
      missing: { input: 16880, in: 16882 },
    });
    const name = loopVariable(parts, at);
    const args = [parse(parts.get('input')!)];
    const body = parse(parts.get('in')!, `${at}.in`, [...vars, name]);
    return { k: 'bind', fn: 'map', vars: [name], args, body, at };
  },

  $filter: (operand, at, vars, parse) => {
    const parts = namedParts(operand, at, {
      required: ['input', 'cond'],
      optional: ['as', 'limit'],
      notObject: 28646,
      unknown: 28647,
      missing: { input: 28648, cond: 28650 },
    });
    const name = loopVariable(parts, at);
    const limit = parts.get('limit');
    const args = [parse(parts.get('input')!), ...(limit === undefined ? [] : [parse(limit)])];
    const body = parse(parts.get('cond')!, `${at}.cond`, [...vars, name]);
    return { k: 'bind', fn: 'filter', vars: [name], args, body, at };
  },

  $reduce: (operand, at, vars, parse) => {
    const parts = namedParts(operand, at, {
      required: ['input', 'initialValue', 'in'],
      optional: [],
      notObject: 40075,
      unknown: 40076,
      missing: { input: 40077, initialValue: 40078, in: 40079 },
    });
    const names = ['this', 'value'];
    const args = [parse(parts.get('input')!), parse(parts.get('initialValue')!)];
    const body = parse(parts.get('in')!, `${at}.in`, [...vars, ...names]);
    return { k: 'bind', fn: 'reduce', vars: names, args, body, at };
  },
};

/** MongoDB reads an array as an object with the fields '0', '1', …, none of which is a name. */
function variablesOf(value: BsonValue, at: string): BsonDocument {
  if (value instanceof BsonDocument) return value;
  if (Array.isArray(value)) return new BsonDocument(value.map((item, index) => [String(index), item]));
  throw new QueryError(10065, `'vars' must be an object, found ${describe(value)}`, { path: at });
}

/** CURRENT is the one name of the system's that a query may bind: paths then start there. */
function variableName(name: string, at: string): string {
  if (name === '') throw new QueryError('FailedToParse', 'empty variable names are not allowed', { path: at });
  if (name === 'CURRENT' || /^[a-z\u0080-\uffff][\w\u0080-\uffff]*$/.test(name)) return name;
  throw new QueryError('FailedToParse', `a variable name starts with a lower-case letter, found '${name}'`, {
    path: at,
  });
}

function loopVariable(parts: BsonDocument, at: string): string {
  const as = parts.get('as');
  if (as === undefined) return 'this';
  if (typeof as === 'string') return variableName(as, at);
  throw new QueryError('FailedToParse', `'as' must be a string, found ${describe(as)}`, { path: at });
}
