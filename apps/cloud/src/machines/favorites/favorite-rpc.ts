/** AppService for favorites: machines that the signed-in person marked. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import { type CloudHandlers, type Principal, requireId, requirePerson } from '../../access/principal.ts';
import type { MachineOperationDeps } from '../machines-deps.ts';
import { addFavorite, favoritesOf, removeFavorite } from './favorite-machines.ts';

export function favoriteHandlers(deps: MachineOperationDeps): CloudHandlers<typeof AppService> {
  const { access, registry, messages } = deps;

  return {
    async addFavoriteMachine({ machineId }, call) {
      const personId = personOf(call.principal);
      requireId('machine_id', machineId, 'ListRobots');
      access.authorize(call.principal, 'machine.read', machineId);
      await addFavorite(deps, call, personId, machineId);
    },
    async removeFavoriteMachine({ machineId }, call) {
      const personId = personOf(call.principal);
      requireId('machine_id', machineId, 'ListFavoriteMachines');
      // Needs no role: people who can no longer see a machine may still remove it from their own list.
      if (!(await removeFavorite(deps, call, personId, machineId)))
        access.authorize(call.principal, 'machine.read', machineId);
    },
    async listFavoriteMachines(_request, { principal }) {
      const favorites = await favoritesOf(deps, personOf(principal));
      return {
        favorites: favorites.flatMap(({ machineId, addedMs }) => {
          const machine = registry.machine(machineId);
          if (machine === undefined || !access.allows(principal, 'machine.read', machineId)) return [];
          const { organizationId } = registry.lineageOfMachine(machine);
          return [{ machine: messages.robot(machine), organizationId, createdOn: timestampFromMs(addedMs) }];
        }),
      };
    },
  };
}

const personOf = (principal: Principal): string =>
  requirePerson(principal, 'favorites', 'favorites belong to a person');
