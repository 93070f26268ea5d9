/** What a part should run now: its newest version with fragments resolved. */
import type { Configurations } from './configuration.ts';
import type { Effective, EffectiveConfigurations, UsedFragment } from './effective-configuration.ts';

/** The cached facts about an effective document; the document itself is resolved on demand. */
export interface EffectiveFacts {
  readonly stamp: string;
  readonly revision: string;
  readonly fragments: readonly UsedFragment[];
}

export interface CurrentConfiguration {
  /** Identifies the newest version and its fragments: equal stamps mean equal effective documents. */
  stampOf(partId: string): Promise<string>;
  effective(partId: string): Promise<Effective>;
  /** Served from memory while neither the configuration nor its fragments change. */
  facts(partId: string): Promise<EffectiveFacts>;
  forget(partId: string): void;
}

export function createCurrentConfiguration(
  configurations: Configurations,
  effective: EffectiveConfigurations,
): CurrentConfiguration {
  const known = new Map<string, EffectiveFacts>();
  const stampOf = async (partId: string): Promise<string> =>
    `${await configurations.versionOf(partId)} ${effective.stampOf(partId)}`;
  const resolve = async (partId: string): Promise<Effective> => {
    const stamp = await stampOf(partId);
    const { document } = await configurations.current(partId);
    const found = await effective.effective(partId, JSON.parse(document));
    // If anything changed in the meantime, the result may not belong to this stamp.
    if ((await stampOf(partId)) === stamp)
      known.set(partId, { stamp, revision: found.revision, fragments: found.fragments });
    return found;
  };
  return {
    stampOf,
    effective: resolve,
    async facts(partId) {
      const stamp = await stampOf(partId);
      const cached = known.get(partId);
      if (cached?.stamp === stamp) return cached;
      const { revision, fragments } = await resolve(partId);
      return { stamp, revision, fragments };
    },
    forget: (partId) => void known.delete(partId),
  };
}
