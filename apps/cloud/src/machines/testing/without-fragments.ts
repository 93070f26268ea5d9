import { asEffective, type EffectiveConfigurations } from '../configuration/effective-configuration.ts';

/** Every document stands for itself. */
export const withoutFragments: EffectiveConfigurations = {
  effective: async (_partId, document) => asEffective(document, [], []),
  stampOf: () => '',
  problemsOf: async () => [],
  saving: async () => {},
  deleting: async () => {},
};
