/**
 * `core:builtin:fake`: a switch that keeps its position.
 *
 * Attributes: `position_count` (default 2); `labels` (list of names, one for each position); `position` (default 0), its initial position.
 * See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidValue } from '@platform/base';
import { type Switch, switchType } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { stringsOf } from '../../attributes.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  position_count: { kind: 'int', default: 2, min: 1, max: 1_000_000 },
  position: { kind: 'int', default: 0, min: 0 },
  labels: { kind: 'list' },
} as const;

export const createFakeSwitch: (clock: Clock) => Model = fakeModel<Switch, typeof fields>({
  type: switchType,
  fields,
  make({ position_count: count, position: start, labels: given = [] }) {
    const labels = stringsOf(given, 'labels');
    if (labels.length > 0 && labels.length !== count)
      throw invalidValue('attributes.labels', `one for each of ${count} positions`, labels.length);
    const inRange = (position: number, path: string): number => {
      if (position < count) return position;
      throw invalidValue(path, `0 to ${count - 1}`, position);
    };
    let position = inRange(start, 'attributes.position');
    return {
      async setPosition({ position: wanted }) {
        position = inRange(wanted, 'position');
      },
      getPosition: async () => ({ position }),
      getNumberOfPositions: async () => ({ numberOfPositions: count, labels: [...labels] }),
    };
  },
});
