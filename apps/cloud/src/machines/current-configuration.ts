/** What a part should run now: its newest version with fragments resolved. */
import type { Configurations } from './configuration.ts';
import type { Effective, EffectiveConfigurations } from './effective-configuration.ts';

export interface CurrentConfiguration {
  /** Names the newest version and the fragments in it: equal stamps mean equal effective documents. */
  stampOf(partId: string): Promise<string>;
  effective(partId: string): Promise<Effective>;
}

export function createCurrentConfiguration(
  configurations: Configurations,
  effective: EffectiveConfigurations,
): CurrentConfiguration {
  return {
    async stampOf(partId) {
      const { version } = await configurations.current(partId);
      return `${version} ${effective.stampOf(partId)}`;
    },
    async effective(partId) {
      const { document } = await configurations.current(partId);
      return effective.effective(partId, JSON.parse(document));
    },
  };
}
