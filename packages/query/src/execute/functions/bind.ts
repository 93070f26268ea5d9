/** $map, $filter, $reduce, $let: they bind variables and evaluate a body. */

import { isNullish, typeName } from '../../bson/type.ts';
import type { BsonValue } from '../../bson/value.ts';
import { describe } from '../../mql/describe.ts';
import { QueryError } from '../../query-error.ts';
import { type Evaluate, step } from '../expressions/scope.ts';
import { isTruthy } from '../expressions/truth.ts';
import { wholeInt32 } from './numbers/whole-int32.ts';

/** The slots are those of the bound variables, in the order of the expression's `vars`. */
type Binding = (args: readonly Evaluate[], slots: readonly number[], body: Evaluate) => Evaluate;

export const bindings: Readonly<Record<'map' | 'filter' | 'reduce' | 'let', Binding>> = {
  map:
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
  filter:
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
  reduce:
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
  let: (args, slots, body) => (frame) => {
    const values = args.map((arg) => arg(frame));
    for (const [index, slot] of slots.entries()) frame.slots[slot] = values[index];
    return body(frame);
  },
};

function limitOf(value: ReturnType<Evaluate>): number {
  if (isNullish(value)) return Number.POSITIVE_INFINITY;
  const limit = wholeInt32(value);
  if (limit === undefined)
    throw new QueryError(327391, `the limit of $filter must be a 32-bit whole number, found ${describe(value)}`);
  if (limit < 1) throw new QueryError(327392, `the limit of $filter must be greater than 0, found ${limit}`);
  return limit;
}
