/** `core:builtin:fake`: drives nothing, and answers each command with itself. See fake-model.ts for `errors` and `delays_ms`. */
import type { Clock } from '@platform/base';
import { type BaseRemoteControl, baseRemoteControl } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

export const createFakeBaseRemoteControl: (clock: Clock) => Model = fakeModel<BaseRemoteControl, Record<never, never>>({
  type: baseRemoteControl,
  fields: {},
  make: () => ({}),
});
