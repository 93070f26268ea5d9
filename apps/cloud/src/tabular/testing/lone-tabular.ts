import { createDeletionPause } from '../../instance/deletion-pause.ts';
import type { TabularDeps } from '../feature.ts';

/** What the tabular store is given where no other feature is there: everything is kept, all may be scanned. */
export function loneTabular(): Pick<
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
