/**
 * `core:builtin:single`: an encoder with one signal, which does not show the direction: it counts up, or down if `dir_flip` is true.
 *
 * Attributes: `board` (required), `pins` (required; `{"i": "wheel"}`, the name of a digital interrupt of that board), `dir_flip` (bool,
 * default false). Each rising edge is a tick.
 */
import type { Clock } from '@platform/base';
import { board as boardType } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { readAttributes, required } from '../../attributes.ts';
import { dependencyOf, namedIn } from '../../dependency.ts';
import { createTickCounter } from './tick-counter.ts';

const fields = {
  board: { kind: 'string' },
  pins: { kind: 'object', of: { i: { kind: 'string' } } },
  dir_flip: { kind: 'bool', default: false },
} as const;

export const createSingleEncoder = (clock: Clock): Model => ({
  api: 'core:component:encoder',
  model: 'core:builtin:single',
  fields,
  dependencies: namedIn('board'),
  async build({ attributes }, context) {
    const given = readAttributes(fields, attributes);
    const name = required(given.pins?.['i'], 'pins.i', 'the name of a digital interrupt');
    const board = dependencyOf(context, boardType, given.board, 'board');
    const direction = given.dir_flip ? -1 : 1;
    const step = (_name: string, isHigh: boolean): number => (isHigh ? direction : 0);
    return createTickCounter({ board, interrupts: [String(name)], step, clock, log: context.log });
  },
});
