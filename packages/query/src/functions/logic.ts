/** Conditions, comparisons, and $and, $or and $not. */

import { compareValues, comparisons } from '../bson/compare.ts';
import { describe } from '../bson/describe.ts';
import { isNullish } from '../bson/type.ts';
import { BsonDocument, type BsonValue, Int32 } from '../bson/value.ts';
import { constant, constantOf } from '../execute/expressions/constant.ts';
import type { Evaluate } from '../execute/expressions/scope.ts';
import { isTruthy } from '../execute/expressions/truth.ts';
import { call, type Expr } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import { either } from '../sql/types/kind.ts';
import {
  atLeast,
  type Eager,
  eager,
  type FunctionDefinition,
  type Functions,
  lazy,
  type OperandContext,
} from './definition.ts';
import { namedFields } from './named-fields.ts';

/** $cond, $ifNull, $switch: only the branch taken is evaluated. */
export const conditional: Functions = {
  'agg.cond': lazy(
    { mql: parseCond, size: 'bounded', neverFails: true, numberTypes: branches },
    ([when, then, otherwise]) =>
      (frame) =>
        isTruthy(when!(frame)) ? then!(frame) : otherwise!(frame),
  ),
  'agg.ifNull': lazy(
    {
      mql: atLeast(2),
      arityCode: 1257300,
      sql: { names: [['COALESCE', 1, 100, null]], gives: (args) => args.reduce(either) },
      size: 'bounded',
      neverFails: true,
      numberTypes: (args) => args,
    },
    (args) => (frame) => {
      for (const arg of args.slice(0, -1)) {
        const value = arg(frame);
        if (!isNullish(value)) return value;
      }
      return args.at(-1)!(frame);
    },
  ),
  /** Constant cases have already been removed. */
  'agg.switch': lazy({ mql: parseSwitch, size: 'bounded', numberTypes: branches }, (args) => {
    if (args.length === 0) throw new QueryError(40069, 'every case of this $switch is false, and it has no default');
    return (frame) => {
      for (let index = 0; index + 1 < args.length; index += 2) {
        if (isTruthy(args[index]!(frame))) return args[index + 1]!(frame);
      }
      if (args.length % 2 === 1) return args.at(-1)!(frame);
      throw new QueryError(40066, 'no branch of this $switch matched an input, and it has no default');
    };
  }),
};

function parseCond(operand: BsonValue, { at, parse }: OperandContext): Expr {
  if (!(operand instanceof BsonDocument)) {
    const operands = Array.isArray(operand) ? operand : [operand];
    if (operands.length !== 3) {
      throw new QueryError(16020, `$cond takes exactly 3 arguments, found ${operands.length}`);
    }
    return call(
      'agg.cond',
      operands.map((item) => parse(item)),
      at,
    );
  }
  const parts = namedFields(operand, {
    required: Object.fromEntries(['if', 'then', 'else'].map((name, index) => [name, 17080 + index])),
    notObject: 17080,
    unknown: 17083,
  });
  return call('agg.cond', [parse(parts.get('if')!), parse(parts.get('then')!), parse(parts.get('else')!)], at);
}

/** Arguments in order: case, then, case, then, …, and the default if there is one (an odd count). */
function parseSwitch(operand: BsonValue, { at, parse }: OperandContext): Expr {
  if (!(operand instanceof BsonDocument))
    throw new QueryError(40060, `$switch takes an object, found ${describe(operand)}`);
  const args: Expr[] = [];
  for (const [name, value] of operand) {
    if (name === 'default') continue;
    if (name !== 'branches') throw new QueryError(40067, `$switch found an unknown argument: ${name}`);
    if (!Array.isArray(value))
      throw new QueryError(40061, `$switch takes an array of branches, found ${describe(value)}`);
    for (const branch of value) {
      if (!(branch instanceof BsonDocument))
        throw new QueryError(40062, `a branch must be an object, found ${describe(branch)}`);
      for (const key of branch.keys()) {
        if (key !== 'case' && key !== 'then') throw new QueryError(40063, `a branch has case and then, found '${key}'`);
      }
      const [when, then] = [branch.get('case'), branch.get('then')];
      if (when === undefined) throw new QueryError(40064, "a branch needs a 'case'");
      if (then === undefined) throw new QueryError(40065, "a branch needs a 'then'");
      args.push(parse(when), parse(then));
    }
  }
  if (args.length === 0) throw new QueryError(40068, '$switch needs at least one branch');
  const otherwise = operand.get('default');
  if (otherwise !== undefined) args.push(parse(otherwise));
  return call('agg.switch', args, at);
}

/** The values among arguments that alternate condition and value and end with an optional default. */
export function branches<T>(args: readonly T[]): readonly T[] {
  return args.filter((_, index) => index % 2 === 1 || index === args.length - 1);
}

/** $and, $or, $not. A constant that decides takes effect before any operand is evaluated, wherever it stands, as in MongoDB. */
export const boolean: Functions = {
  'agg.and': lazy({ mql: atLeast(0), size: 'bounded', neverFails: true, numberTypes: 'none' }, (args) =>
    args.some((arg) => isConstantly(false, arg))
      ? constant(false)
      : (frame) => args.every((arg) => isTruthy(arg(frame))),
  ),
  'agg.or': lazy({ mql: atLeast(0), size: 'bounded', neverFails: true, numberTypes: 'none' }, (args) =>
    args.some((arg) => isConstantly(true, arg)) ? constant(true) : (frame) => args.some((arg) => isTruthy(arg(frame))),
  ),
  'agg.not': lazy(
    { mql: 1, size: 'bounded', neverFails: true, numberTypes: 'none' },
    ([arg]) =>
      (frame) =>
        !isTruthy(arg!(frame)),
  ),
};

function isConstantly(truth: boolean, arg: Evaluate): boolean {
  const known = constantOf(arg);
  return known !== undefined && isTruthy(known.value) === truth;
}

/** $cmp, $eq, $ne, $gt, $gte, $lt, $lte: any two values compare, by the BSON order. */
export const comparison: Functions = {
  'agg.cmp': eager({ mql: 2, size: 'bounded', neverFails: true }, (a, b) => new Int32(Math.sign(compareValues(a, b)))),
  ...Object.fromEntries(Object.entries(comparisons).map(([name, holds]) => [`agg.${name}`, compared(holds)])),
};

function compared(holds: (order: number) => boolean): FunctionDefinition {
  const eager: Eager = (a, b) => holds(compareValues(a, b));
  return { mql: 2, size: 'bounded', neverFails: true, numberTypes: 'none', eager };
}
