/** $let, $map, $filter and $reduce: they bind variables and evaluate a body. */

import { describe } from '../bson/describe.ts';
import { isNullish, typeName } from '../bson/type.ts';
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import { type Evaluate, step } from '../execute/expressions/scope.ts';
import { isTruthy } from '../execute/expressions/truth.ts';
import type { Expr } from '../plan/expr.ts';
import { malformed, QueryError } from '../query-error.ts';
import type { Functions, OperandContext } from './definition.ts';
import { namedFields } from './named-fields.ts';
import { requireInt32 } from './numbers/number.ts';

export const variables: Functions = {
  let: {
    mql: parseLet,
    bind: (args, slots, body) => (frame) => {
      const values = args.map((arg) => arg(frame));
      for (const [index, slot] of slots.entries()) frame.slots[slot] = values[index];
      return body(frame);
    },
  },
  map: {
    mql: parseMap,
    size: 'grows',
    bind:
      (args, [slot], body) =>
      (frame) => {
        const input = args[0]!(frame);
        if (isNullish(input)) return null;
        if (!Array.isArray(input)) throw new QueryError(16883, `input to $map must be an array not ${typeName(input)}`);
        return input.map((item) => {
          step(frame);
          frame.slots[slot!] = item;
          return body(frame) ?? null;
        });
      },
  },
  filter: {
    mql: parseFilter,
    size: 'grows',
    bind:
      (args, [slot], body) =>
      (frame) => {
        const input = args[0]!(frame);
        if (isNullish(input)) return null;
        if (!Array.isArray(input))
          throw new QueryError(28651, `input to $filter must be an array not ${typeName(input)}`);
        if (input.length === 0) return input;
        const most = args[1] === undefined ? Number.POSITIVE_INFINITY : limitOf(args[1](frame));
        const kept: BsonValue[] = [];
        for (const item of input) {
          step(frame);
          frame.slots[slot!] = item;
          if (isTruthy(body(frame)) && kept.push(item) >= most) break;
        }
        return kept;
      },
  },
  reduce: {
    mql: parseReduce,
    bind:
      (args, [thisSlot, valueSlot], body) =>
      (frame) => {
        const input = args[0]!(frame);
        if (isNullish(input)) return null;
        if (!Array.isArray(input))
          throw new QueryError(40080, `input to $reduce must be an array not ${typeName(input)}`);
        let value = args[1]!(frame);
        for (const item of input) {
          step(frame);
          frame.slots[thisSlot!] = item;
          frame.slots[valueSlot!] = value;
          value = body(frame);
        }
        return value;
      },
  },
};

function limitOf(value: ReturnType<Evaluate>): number {
  if (isNullish(value)) return Number.POSITIVE_INFINITY;
  const limit = requireInt32(value, 'the limit of $filter', 327391);
  if (limit < 1) throw new QueryError(327392, `the limit of $filter must be greater than 0, found ${limit}`);
  return limit;
}

function parseLet(operand: BsonValue, { at, vars, parse }: OperandContext): Expr {
  const parts = namedFields(operand, {
    required: { vars: 16876, in: 16877 },
    notObject: 16874,
    unknown: 16875,
  });
  const bound = variablesOf(parts.get('vars')!);
  const names = [...bound.keys()].map(variableName);
  const args = [...bound.values()].map((value) => parse(value));
  const body = parse(parts.get('in')!, `${at}.in`, [...vars, ...names]);
  return { k: 'bind', fn: 'let', vars: names, args, body, at };
}

function parseMap(operand: BsonValue, { at, vars, parse }: OperandContext): Expr {
  const parts = namedFields(operand, {
    required: { input: 16880, in: 16882 },
    optional: ['as'],
    notObject: 16878,
    unknown: 16879,
  });
  const name = loopVariable(parts);
  const args = [parse(parts.get('input')!)];
  const body = parse(parts.get('in')!, `${at}.in`, [...vars, name]);
  return { k: 'bind', fn: 'map', vars: [name], args, body, at };
}

function parseFilter(operand: BsonValue, { at, vars, parse }: OperandContext): Expr {
  const parts = namedFields(operand, {
    required: { input: 28648, cond: 28650 },
    optional: ['as', 'limit'],
    notObject: 28646,
    unknown: 28647,
  });
  const name = loopVariable(parts);
  const limit = parts.get('limit');
  const args = [parse(parts.get('input')!), ...(limit === undefined ? [] : [parse(limit)])];
  const body = parse(parts.get('cond')!, `${at}.cond`, [...vars, name]);
  return { k: 'bind', fn: 'filter', vars: [name], args, body, at };
}

function parseReduce(operand: BsonValue, { at, vars, parse }: OperandContext): Expr {
  const parts = namedFields(operand, {
    required: { input: 40077, initialValue: 40078, in: 40079 },
    notObject: 40075,
    unknown: 40076,
  });
  const names = ['this', 'value'];
  const args = [parse(parts.get('input')!), parse(parts.get('initialValue')!)];
  const body = parse(parts.get('in')!, `${at}.in`, [...vars, ...names]);
  return { k: 'bind', fn: 'reduce', vars: names, args, body, at };
}

/** MongoDB reads an array as an object with the fields '0', '1', …, which are not valid names. */
function variablesOf(value: BsonValue): BsonDocument {
  if (value instanceof BsonDocument) return value;
  if (Array.isArray(value)) return new BsonDocument(value.map((item, index) => [String(index), item]));
  throw new QueryError(10065, `'vars' must be an object, found ${describe(value)}`);
}

/** CURRENT is the only system variable that a query may bind: paths then start there. */
function variableName(name: string): string {
  if (name === '') throw malformed('empty variable names are not allowed');
  if (name === 'CURRENT' || /^[a-z\u0080-\uffff][\w\u0080-\uffff]*$/.test(name)) return name;
  throw malformed(`a variable name starts with a lower-case letter, found '${name}'`);
}

function loopVariable(parts: BsonDocument): string {
  const as = parts.get('as');
  if (as === undefined) return 'this';
  if (typeof as === 'string') return variableName(as);
  throw malformed(`'as' must be a string, found ${describe(as)}`);
}
