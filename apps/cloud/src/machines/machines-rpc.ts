/** AppService for machines ("robots" in the API): list, read, create, rename, move, delete. */
import { failedPrecondition } from '@platform/base';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import { type CloudHandlers, type Principal, requireId, requireVisible } from '../access/principal.ts';
import { checkedName } from '../text-rules/checked-name.ts';
import { createMachine } from './create-machine.ts';
import { deleteMachine } from './delete-machine.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { MachineRow } from './registry.ts';
import { updateMachine } from './update-machine.ts';

export function machineHandlers(deps: MachineOperationDeps): CloudHandlers<typeof AppService> {
  const { access, tree, registry, messages } = deps;
  const machineOf = (id: string): MachineRow => requireVisible(registry.machine(id), 'machine', id);
  const readable = (principal: Principal, locationIds: readonly string[]): MachineRow[] =>
    locationIds
      .flatMap((locationId) => registry.machinesOf(locationId))
      .filter((machine) => access.allows(principal, 'machine.read', machine.id));

  return {
    listRobots(request, call) {
      requireId('location_id', request.locationId, 'ListLocations');
      access.authorize(call.principal, 'location.see', request.locationId);
      return { robots: readable(call.principal, [request.locationId]).map(messages.robot) };
    },
    listRobotsForLocations(request, call) {
      const ids = [...new Set(request.locationIds)];
      for (const id of ids) access.authorize(call.principal, 'location.see', id);
      return { robots: readable(call.principal, ids).map(messages.robot) };
    },
    listRobotsForOrg(request, call) {
      access.authorize(call.principal, 'organization.see', request.orgId);
      const ids = tree.locationsOf(request.orgId).map((location) => location.id);
      return { robots: readable(call.principal, ids).map(messages.robot) };
    },
    getRobot(request, call) {
      access.authorize(call.principal, 'machine.read', request.id);
      return { robot: messages.robot(machineOf(request.id)) };
    },
    async newRobot(request, call) {
      const { organizationId } = access.authorize(call.principal, 'location.manage', request.location);
      const name = checkedName(request.name);
      const { id } = await createMachine(deps, call, { organizationId, locationId: request.location, name });
      return { id };
    },
    async updateRobot(request, call) {
      const { organizationId } = access.authorize(call.principal, 'machine.manage', request.id);
      const machine = machineOf(request.id);
      const locationId = request.location === '' ? machine.location_id : request.location;
      if (locationId !== machine.location_id) {
        const target = access.authorize(call.principal, 'location.manage', locationId);
        if (target.organizationId !== organizationId) {
          throw failedPrecondition(
            `machine ${machine.id}: expected a location of its own organization, found location ${locationId} of another one: machines cannot move between organizations`,
          );
        }
      }
      const name = request.name === '' ? machine.name : checkedName(request.name);
      return { robot: messages.robot(await updateMachine(deps, call, machine, organizationId, { name, locationId })) };
    },
    async deleteRobot(request, call) {
      const { organizationId } = access.authorize(call.principal, 'machine.manage', request.id);
      await deleteMachine(deps, call, machineOf(request.id), organizationId);
    },
  };
}
