/** $rand: a double from 0 up to but not 1, another one for each row. */

import type { Eager } from '../registry.ts';

export function randWith(random: () => number = Math.random): Readonly<Record<string, Eager>> {
  return { 'agg.rand': () => random() };
}
