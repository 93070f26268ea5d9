/**
 * `core:builtin:incremental`: a quadrature encoder, whose two signals are a quarter of a period apart.
 *
 * Attributes: `board` (required), `pins` (required; `{"a": "left-a", "b": "left-b"}`, names of digital interrupts of that board). Each edge
 * of either signal is a tick: 4 in a period. It counts up while `a` is ahead of `b`.
 */
import type { Clock } from '@platform/base';
import { board as boardType } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { readAttributes, required } from '../../attributes.ts';
import { dependencyOf, namedIn } from '../../dependency.ts';
import { createTickCounter } from './tick-counter.ts';

const fields = {
  board: { kind: 'string' },
  pins: { kind: 'object', of: { a: { kind: 'string' }, b: { kind: 'string' } } },
} as const;

export const createIncrementalEncoder = (clock: Clock): Model => ({
  api: 'core:component:encoder',
  model: 'core:builtin:incremental',
  fields,
  dependencies: namedIn('board'),
  async build({ attributes }, context) {
    const given = readAttributes(fields, attributes);
    const a = String(required(given.pins?.['a'], 'pins.a', 'the name of a digital interrupt'));
    const b = String(required(given.pins?.['b'], 'pins.b', 'the name of a digital interrupt'));
    const board = dependencyOf(context, boardType, given.board, 'board');
    return createTickCounter({ board, interrupts: [a, b], step: createQuadrature(a), clock, log: context.log });
  },
});

/**
 * The direction of an edge follows from the level of the other signal: an edge of `a` that makes the two different, or of `b` that makes
 * them the same, is forward. A level is unknown until the first edge of its signal.
 */
export function createQuadrature(a: string): (name: string, isHigh: boolean) => number {
  let levelOfA: boolean | undefined;
  let levelOfB: boolean | undefined;
  return (name, isHigh) => {
    const isA = name === a;
    if (isA) levelOfA = isHigh;
    else levelOfB = isHigh;
    if (levelOfA === undefined || levelOfB === undefined) return 0;
    return (levelOfA !== levelOfB) === isA ? 1 : -1;
  };
}
