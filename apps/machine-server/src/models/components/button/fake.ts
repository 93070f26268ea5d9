/**
 * `core:builtin:fake`: a button that counts its pushes (`pushes` of its status). See fake-model.ts for `errors` and `delays_ms`.
 */
import type { Clock } from '@platform/base';
import { type Button, button } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

export const createFakeButton: (clock: Clock) => Model = fakeModel<Button, Record<never, never>>({
  type: button,
  fields: {},
  make() {
    let pushes = 0;
    return {
      async push() {
        pushes++;
      },
      getStatus: async () => ({ result: { pushes } }),
    };
  },
});
