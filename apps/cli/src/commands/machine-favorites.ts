/** `platform machines favorites`: machines that the signed-in person marked. API keys have none. */
import type { FavoriteMachine } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../invocation/define-command.ts';
import { presenter, stateOf, timeOf } from '../results/presenters.ts';

export function machineFavoritesCommand(): Command {
  return group('favorites', 'your favorite machines; log in as a person, not with a key', [
    list(),
    change('add', 'add a machine to your favorites'),
    change('remove', 'remove a machine from your favorites'),
  ]).alias('favorite');
}

export const machineArgument = ['<machine>', 'name, Location/name or id'] as const;
const { fields, shape } = presenter<FavoriteMachine>({
  id: (one) => one.machine?.id ?? '',
  name: (one) => one.machine?.name ?? '',
  location_id: (one) => one.machine?.location ?? '',
  organization_id: (one) => one.organizationId,
  state: (one) => (one.machine === undefined ? 'unknown' : stateOf(one.machine.onlineState)),
  last_access: (one) => timeOf(one.machine?.lastAccess),
  added_at: (one) => timeOf(one.createdOn),
});

function list(): Command {
  return defineCommand(
    new Command('list').description('list your favorite machines in all organizations, the oldest favorite first'),
    { examples: ['platform machines favorites list', 'platform machines favorites list --json=id,name,state'], fields },
    async ({ cloud, out }) => {
      const { favorites } = await (await cloud()).app.listFavoriteMachines({});
      out.rows(favorites.map(shape), ['name', 'id', 'state', 'last_access', 'added_at']);
    },
  );
}

function change(verb: 'add' | 'remove', summary: string): Command {
  return defineCommand(
    new Command(verb).description(summary).argument(...machineArgument),
    { examples: [`platform machines favorites ${verb} press-7`] },
    async ({ cloud, out, find }, _flags, text = '') => {
      const { id: machineId, name } = await find.machine(text);
      const { app } = await cloud();
      await (verb === 'add' ? app.addFavoriteMachine({ machineId }) : app.removeFavoriteMachine({ machineId }));
      out.note(`machine "${name}" is ${verb === 'add' ? '' : 'no longer '}a favorite`);
    },
  );
}
