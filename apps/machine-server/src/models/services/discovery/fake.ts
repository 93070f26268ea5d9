/**
 * `core:builtin:fake`: discovers the contents of its attribute `discoveries`: components as in a configuration (`name`, `api`, `model`,
 * `attributes`). See fake-model.ts for `errors` and `delays_ms`.
 */
import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type Clock, errorText, invalidArgument } from '@platform/base';
import { ComponentConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { type Discovery, discovery } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = { discoveries: { kind: 'list' } } as const;

export const createFakeDiscovery: (clock: Clock) => Model = fakeModel<Discovery, typeof fields>({
  type: discovery,
  fields,
  make({ discoveries: given = [] }) {
    const discoveries = given.map((each, at) => {
      try {
        return fromJson(ComponentConfigSchema, each as JsonValue);
      } catch (caught) {
        throw invalidArgument(`attributes.discoveries[${at}]: ${errorText(caught)}`);
      }
    });
    return {
      discoverResources: async () => ({ discoveries }),
    };
  },
});
