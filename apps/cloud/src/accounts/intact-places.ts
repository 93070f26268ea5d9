/** Refuses callers while rows that decide what their organizations see are damaged: locations, and what is shared with them (D33). */
import type { RowWatch } from '../metadata/row-checks/row-watch.ts';
import { locationShares, locations } from './store.ts';

/** The function throws data_loss. */
export function intactPlaces(
  rows: Pick<RowWatch, 'requireComplete'>,
): (organizationIds: readonly string[]) => Promise<void> {
  return async (organizationIds) => {
    for (const table of [locations, locationShares]) await rows.requireComplete(table, organizationIds);
  };
}
