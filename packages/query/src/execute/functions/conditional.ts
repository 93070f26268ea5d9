/** $cond, $ifNull, $switch: only the branch that is taken is evaluated. */

import { isNullish } from '../../bson/type.ts';
import { QueryError } from '../../query-error.ts';
import { isTruthy } from '../expressions/truth.ts';
import type { Lazy } from './registry.ts';

export const conditional: Readonly<Record<string, Lazy>> = {
  'agg.cond':
    ([when, then, otherwise]) =>
    (frame) =>
      isTruthy(when!(frame)) ? then!(frame) : otherwise!(frame),
  'agg.ifNull': (args) => (frame) => {
    for (const arg of args.slice(0, -1)) {
      const value = arg(frame);
      if (!isNullish(value)) return value;
    }
    return args.at(-1)!(frame);
  },
  /** Cases that are constants are gone already. */
  'agg.switch': (args) => {
    if (args.length === 0) throw new QueryError(40069, 'every case of this $switch is false, and it has no default');
    return (frame) => {
      for (let index = 0; index + 1 < args.length; index += 2) {
        if (isTruthy(args[index]!(frame))) return args[index + 1]!(frame);
      }
      if (args.length % 2 === 1) return args.at(-1)!(frame);
      throw new QueryError(40066, 'no branch of this $switch matched an input, and it has no default');
    };
  },
};
