/** AppService for parts: read, create, delete, make main, restart, secrets. configuration-rpc.ts saves their configurations. */
import { failedPrecondition } from '@platform/base';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import { type CloudCall, type CloudHandlers, notVisible, requireVisible } from '../access/principal.ts';
import { checkedName } from '../text-rules/checked-name.ts';
import { createPartSecret, deletePartSecret } from './change-part-secrets.ts';
import { changePart, createPart, makeMain } from './change-parts.ts';
import { deletePart } from './delete-machine.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { PartRow } from './registry.ts';

export function partHandlers(deps: MachineOperationDeps): CloudHandlers<typeof AppService> {
  const { access, registry, configurations, messages, clock } = deps;
  const partOf = (id: string): PartRow => requireVisible(registry.part(id), 'part', id);
  const shown = async (parts: readonly PartRow[], call: CloudCall) =>
    messages.parts(
      await Promise.all(parts.map(async (part) => ({ part, version: await configurations.current(part.id) }))),
      call,
    );

  return {
    async getRobotParts(request, call) {
      access.authorize(call.principal, 'machine.read', request.robotId);
      return { parts: await shown(registry.partsOf(request.robotId), call) };
    },
    async getRobotPart(request, call) {
      access.authorize(call.principal, 'part.read', request.id);
      const [part] = await shown([partOf(request.id)], call);
      return { part, configJson: part?.robotConfigJson ?? '{}' };
    },
    async getRobotPartByNameAndLocation(request, call) {
      access.authorize(call.principal, 'location.see', request.locationId);
      const found = registry
        .machinesOf(request.locationId)
        .flatMap((machine) => registry.partsOf(machine.id))
        .filter((part) => part.name === request.name && access.allows(call.principal, 'part.read', part.id));
      const [only, ...others] = found;
      if (only === undefined) throw notVisible('part', request.name);
      if (others.length > 0) {
        throw failedPrecondition(
          `part ${JSON.stringify(request.name)} in location ${request.locationId}: expected one of this name, found ${found.length}: ${found
            .slice(0, 20)
            .map((part) => part.id)
            .join(', ')}. Ask by id`,
        );
      }
      const [part] = await shown([only], call);
      return { part };
    },
    async newRobotPart(request, call) {
      const { organizationId } = access.authorize(call.principal, 'machine.manage', request.robotId);
      const name = checkedName(request.partName);
      const { id } = await createPart(deps, call, { organizationId, machineId: request.robotId, name });
      return { partId: id };
    },
    async deleteRobotPart(request, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', request.partId);
      await deletePart(deps, call, partOf(request.partId), organizationId);
    },
    async markPartAsMain(request, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', request.partId);
      await makeMain(deps, call, partOf(request.partId), organizationId);
    },
    async markPartForRestart(request, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', request.partId);
      const action = 'AppService.MarkPartForRestart';
      const columns = { restart_requested_ms: clock.now() };
      await changePart(deps, call, { part: partOf(request.partId), organizationId, action, columns, detail: {} });
    },
    async createRobotPartSecret(request, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', request.partId);
      await createPartSecret(deps, call, request.partId, organizationId);
      const [part] = await shown([partOf(request.partId)], call);
      return { part };
    },
    async deleteRobotPartSecret(request, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', request.partId);
      await deletePartSecret(deps, call, request.partId, request.secretId, organizationId);
    },
  };
}
