/** $and, $or, $not. */

import { isTruthy } from '../truth.ts';
import type { Lazy } from './registry.ts';

export const boolean: Readonly<Record<string, Lazy>> = {
  'agg.and': (args) => (frame) => args.every((arg) => isTruthy(arg(frame))),
  'agg.or': (args) => (frame) => args.some((arg) => isTruthy(arg(frame))),
  'agg.not':
    ([arg]) =>
    (frame) =>
      !isTruthy(arg!(frame)),
};
