/** DeleteTabularData: permanently deletes readings captured before a UTC day. */
import { type Clock, invalidArgument } from '@platform/base';
import { type DeleteTabularDataRequest, TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { audit } from '../../access/audit.ts';
import type { CloudCall } from '../../access/principal.ts';
import type { PathRule } from '../../tabular/catalog/row-filter.ts';
import type { Tabular } from '../../tabular/tabular.ts';
import { typesNamed } from '../../text-rules/types-named.ts';
import { wantedTags } from './reading-conditions.ts';

const dayMs = 86_400_000;
const maxRuleLength = 16_384;
/** `true`: nothing is deleted, and the answer states what would be. Returned as a header to confirm that it was understood. */
export const dryRunHeader = 'platform-dry-run';

/** Returns the number of deleted readings. @throws invalid_argument */
export async function deleteReadings(
  deps: { readonly tabular: Pick<Tabular, 'deleteRows'>; readonly clock: Clock },
  request: DeleteTabularDataRequest,
  call: CloudCall,
): Promise<number> {
  const { tabular, clock } = deps;
  const { organizationId, deleteOlderThanDays: days, filter } = request;
  const beforeDay = dayBefore(clock.now(), days);
  if (filter?.tagsFilter?.type === TagsFilterType.MATCH_BY_OR && filter.tagsFilter.tags.length === 0)
    throw invalidArgument(
      'tags_filter.tags: expected at least one tag with TAGS_FILTER_TYPE_MATCH_BY_OR, found none: without it, readings with any tags would be deleted',
    );
  const tags = wantedTags(filter?.tagsFilter);
  const paths: Record<string, readonly string[]> = {};
  if (filter !== undefined) {
    const { locationIds, robotId, partId, componentType, componentName, method } = filter;
    if (locationIds.length > 0) paths['location_id'] = locationIds;
    if (robotId !== '') paths['robot_id'] = [robotId];
    if (partId !== '') paths['part_id'] = [partId];
    if (componentType !== '') paths['component_type'] = typesNamed(componentType);
    if (componentName !== '') paths['component_name'] = [componentName];
    if (method !== '') paths['method_name'] = [method];
  }
  const predicate = {
    ...(Object.keys(paths).length > 0 && { paths: paths as PathRule }),
    ...(tags !== undefined && { tags }),
    ...(beforeDay !== undefined && { beforeDay }),
  };
  requireShort(predicate);
  const dryRun = isDryRun(call);
  if (dryRun) call.responseHeaders.set(dryRunHeader, 'true');
  return await tabular.deleteRows({
    organizationId,
    predicate,
    dryRun,
    signal: call.signal,
    record: async (trx, rows) => {
      const action = 'DataService.DeleteTabularData';
      const detail = { rows, olderThanDays: days, ...predicate };
      await audit(trx, call, clock.now(), action, ['organization', organizationId, organizationId], detail);
    },
  });
}

/** @throws invalid_argument, so that a misspelt header never causes data loss. */
function isDryRun({ metadata }: CloudCall): boolean {
  const said = metadata.get(dryRunHeader);
  if (said === null || said === 'false') return false;
  if (said === 'true') return true;
  throw invalidArgument(`${dryRunHeader}: expected true or false, found ${JSON.stringify(said)}`);
}

/** The first day to keep: today for one day; undefined (none) for zero. */
function dayBefore(nowMs: number, days: number): string | undefined {
  if (days === 0) return undefined;
  // No capture day is before 1970.
  const firstDay = Math.max(0, Math.floor(nowMs / dayMs) - (days - 1));
  return new Date(firstDay * dayMs).toISOString().slice(0, 10);
}

/** Every query reads the deletion rule until its rows are removed from the disk. @throws invalid_argument */
function requireShort(predicate: object): void {
  const { length } = JSON.stringify(predicate);
  if (length > maxRuleLength)
    throw invalidArgument(
      `filter: expected names, ids and tags of at most ${maxRuleLength} characters in total, found ${length}; delete in several steps`,
    );
}
