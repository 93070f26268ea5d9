/** AppService.ListMachineSummaries: an overview of an organization's machines and parts, by location. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { getOrInsert } from '@platform/base';
import type { AppService, LocationSummarySchema, PartSummarySchema } from '@platform/proto/platform/app/v1/app';
import { type CloudHandlers, notVisible } from '../access/principal.ts';
import type { UsedFragment } from './configuration/effective-configuration.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { PartRow } from './registry.ts';

export function summaryHandlers(deps: MachineOperationDeps): CloudHandlers<typeof AppService> {
  const { access, tree, registry, configurations, current, statuses, messages, names } = deps;

  /** Most documents use no fragments and need not be resolved. */
  const fragmentsOf = async (
    partId: string,
    sees: (fragmentId: string) => Promise<boolean>,
  ): Promise<readonly UsedFragment[]> => {
    const { document } = await configurations.current(partId);
    if (!document.includes('"fragments"')) return [];
    const { fragments } = await current.facts(partId);
    const seen = await Promise.all(fragments.map(({ id }) => sees(id)));
    return fragments.filter((_, at) => seen[at]);
  };
  const summaryOf = (part: PartRow, fragments: readonly UsedFragment[]): MessageInitShape<typeof PartSummarySchema> => {
    const { onlineState, secondsSinceOnline, lastAccess } = messages.contact([part.id]);
    const status = statuses.of(part.id);
    return {
      partId: part.id,
      partName: part.name,
      isMainPart: part.main === 1,
      onlineState,
      secondsSinceOnline,
      dnsName: names.fqdn(part.id),
      fragments: fragments.map(({ id, name }) => ({ id, name })),
      ...(lastAccess === undefined ? {} : { lastAccess, lastOnline: lastAccess }),
      ...(status.os === '' ? {} : { os: status.os }),
      ...(status.platform === '' ? {} : { platform: status.platform }),
      ...(status.server_version === ''
        ? {}
        : { viamServerVersion: { version: { case: 'major', value: status.server_version } } }),
    };
  };

  return {
    async listMachineSummaries(request, call) {
      access.authorize(call.principal, 'organization.see', request.organizationId);
      for (const id of request.locationIds) {
        const lineage = access.authorize(call.principal, 'location.see', id);
        if (lineage.organizationId !== request.organizationId) throw notVisible('location', id);
      }
      const wanted = new Set(request.locationIds);
      const fragmentIds = new Set(request.fragmentIds);
      const limit = request.limit !== undefined && request.limit > 0 ? request.limit : Number.POSITIVE_INFINITY;
      const locations = tree
        .locationsOf(request.organizationId)
        .filter((location) => wanted.size === 0 || wanted.has(location.id));
      // Check each fragment only once, however many parts import it.
      const asked = new Map<string, Promise<boolean>>();
      const sees = (id: string): Promise<boolean> =>
        getOrInsert(asked, id, () => deps.seesFragment(call.principal, id));
      const locationSummaries: MessageInitShape<typeof LocationSummarySchema>[] = [];
      let count = 0;
      for (const location of locations) {
        const machineSummaries = [];
        for (const machine of registry.machinesOf(location.id)) {
          if (count >= limit) break;
          if (!access.allows(call.principal, 'machine.read', machine.id)) continue;
          const parts = await Promise.all(
            registry.partsOf(machine.id).map(async (part) => ({ part, fragments: await fragmentsOf(part.id, sees) })),
          );
          const uses = parts.some(({ fragments }) => fragments.some(({ id }) => fragmentIds.has(id)));
          if (fragmentIds.size > 0 && !uses) continue;
          count++;
          machineSummaries.push({
            machineId: machine.id,
            machineName: machine.name,
            partSummaries: parts.map(({ part, fragments }) => summaryOf(part, fragments)),
          });
        }
        if (machineSummaries.length > 0)
          locationSummaries.push({ locationId: location.id, locationName: location.name, machineSummaries });
      }
      return { locationSummaries };
    },
  };
}
