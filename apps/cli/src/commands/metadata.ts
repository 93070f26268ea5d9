/** `platform metadata`: user-defined JSON, stored with organizations, locations, machines and parts. */
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineCommand, type Flags, group } from '../invocation/define-command.ts';
import { readSaved } from '../invocation/input.ts';

export function metadataCommand(): Command {
  return group('metadata', 'your own JSON, stored with organizations, locations, machines or parts', [get(), set()]);
}

function withTarget(command: Command): Command {
  return command
    .option('--location <location>', 'metadata of this location (default: of the organization)')
    .option('--machine <machine>', 'metadata of this machine')
    .option('--part <part>', 'metadata of this part');
}

interface Target {
  read(): Promise<JsonObject>;
  write(data: JsonObject): Promise<void>;
}

async function targetOf({ cloud, find }: Context, flags: Flags): Promise<Target> {
  const { app } = await cloud();
  if (flags['part'] !== undefined) {
    const { id } = await find.part(String(flags['part']));
    return {
      read: async () => (await app.getRobotPartMetadata({ id })).data ?? {},
      write: async (data) => void (await app.updateRobotPartMetadata({ id, data })),
    };
  }
  if (flags['machine'] !== undefined) {
    const { id } = await find.machine(String(flags['machine']));
    return {
      read: async () => (await app.getRobotMetadata({ id })).data ?? {},
      write: async (data) => void (await app.updateRobotMetadata({ id, data })),
    };
  }
  if (flags['location'] !== undefined) {
    const { id: locationId } = await find.location(String(flags['location']));
    return {
      read: async () => (await app.getLocationMetadata({ locationId })).data ?? {},
      write: async (data) => void (await app.updateLocationMetadata({ locationId, data })),
    };
  }
  const { id: organizationId } = await find.organization();
  return {
    read: async () => (await app.getOrganizationMetadata({ organizationId })).data ?? {},
    write: async (data) => void (await app.updateOrganizationMetadata({ organizationId, data })),
  };
}

function get(): Command {
  return defineCommand(
    withTarget(new Command('get').alias('read').description('print the metadata')),
    { examples: ['platform metadata get --machine press-7'], fields: ['the fields of the metadata'] },
    async (context, flags) => context.out.document(await (await targetOf(context, flags)).read()),
  );
}

function set(): Command {
  return defineCommand(
    withTarget(
      new Command('set')
        .description('replace the metadata')
        .argument('<file>', 'a JSON object; - reads standard input'),
    ),
    { examples: ['platform metadata set press.json --machine press-7'] },
    async (context, flags, file = '') => {
      const data = await readSaved(file, context.invocation);
      await (await targetOf(context, flags)).write(data);
      context.out.note('the metadata is replaced');
    },
  );
}
