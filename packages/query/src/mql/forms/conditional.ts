/** $cond and $switch. */

import { BsonDocument } from '../../bson/value.ts';
import { call, type Expr } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';
import type { SpecialForm } from './form.ts';
import { namedParts } from './named-parts.ts';

export const conditionalForms: Readonly<Record<string, SpecialForm>> = {
  $cond: (operand, at, _vars, parse) => {
    if (!(operand instanceof BsonDocument)) {
      const operands = Array.isArray(operand) ? operand : [operand];
      if (operands.length !== 3) {
        throw new QueryError(16020, `$cond takes exactly 3 arguments, found ${operands.length}`, { path: at });
      }
      return call(
        'agg.cond',
        operands.map((item) => parse(item)),
        at,
      );
    }
    const parts = namedParts(operand, at, {
      required: ['if', 'then', 'else'],
      optional: [],
      notObject: 17080,
      unknown: 17083,
      missing: Object.fromEntries([
        ['if', 17080],
        ['then', 17081],
        ['else', 17082],
      ]),
    });
    return call('agg.cond', [parse(parts.get('if')!), parse(parts.get('then')!), parse(parts.get('else')!)], at);
  },

  /** Arguments in turn: case, then, case, then, …, and the default if there is one (an odd count). */
  $switch: (operand, at, _vars, parse) => {
    const fail = (code: number, reason: string): QueryError => new QueryError(code, reason, { path: at });
    if (!(operand instanceof BsonDocument)) throw fail(40060, `$switch takes an object, found ${describe(operand)}`);
    const args: Expr[] = [];
    for (const [name, value] of operand) {
      if (name === 'default') continue;
      if (name !== 'branches') throw fail(40067, `$switch found an unknown argument: ${name}`);
      if (!Array.isArray(value)) throw fail(40061, `$switch takes an array of branches, found ${describe(value)}`);
      for (const branch of value) {
        if (!(branch instanceof BsonDocument))
          throw fail(40062, `a branch must be an object, found ${describe(branch)}`);
        for (const key of branch.keys()) {
          if (key !== 'case' && key !== 'then') throw fail(40063, `a branch has case and then, found '${key}'`);
        }
        const [when, then] = [branch.get('case'), branch.get('then')];
        if (when === undefined) throw fail(40064, "a branch needs a 'case'");
        if (then === undefined) throw fail(40065, "a branch needs a 'then'");
        args.push(parse(when), parse(then));
      }
    }
    if (args.length === 0) throw fail(40068, '$switch needs at least one branch');
    const otherwise = operand.get('default');
    if (otherwise !== undefined) args.push(parse(otherwise));
    return call('agg.switch', args, at);
  },
};
