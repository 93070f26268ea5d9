/** `core:builtin:fake`: a service that answers each command with itself. See fake-model.ts for `errors` and `delays_ms`. */
import type { Clock } from '@platform/base';
import { type GenericService, genericService } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

export const createFakeGenericService: (clock: Clock) => Model = fakeModel<GenericService, Record<never, never>>({
  type: genericService,
  fields: {},
  make: () => ({}),
});
