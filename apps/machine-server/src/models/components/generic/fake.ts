/** `core:builtin:fake`: a component that answers each command with itself. See fake-model.ts for `errors` and `delays_ms`. */
import type { Clock } from '@platform/base';
import { type GenericComponent, genericComponent } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

export const createFakeGeneric: (clock: Clock) => Model = fakeModel<GenericComponent, Record<never, never>>({
  type: genericComponent,
  fields: {},
  make: () => ({}),
});
