import { createDeletionPause } from '../../instance/deletion-pause.ts';
import type { TabularDeps } from '../feature.ts';

/** Dependencies of the tabular store without other features: everything is kept, and there is no scan limit. */
export function standaloneTabular(): Pick<
  TabularDeps,
  'organizationOf' | 'deletions' | 'monthlyScanBytesOf' | 'standingRulesOf'
> {
  return {
    organizationOf: () => undefined,
    deletions: createDeletionPause(),
    monthlyScanBytesOf: () => 100e12,
    standingRulesOf: async () => ({ expired: [], recent: [] }),
  };
}
