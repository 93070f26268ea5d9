/** The scope of a list: the organization, or one of its locations, machines or parts. */
import { invalidArgument } from '@platform/base/refusals';
import type { Command } from 'commander';
import type { Context } from './context.ts';
import type { Flags } from './define-command.ts';

/** As in the requests of the cloud. */
export type Scope =
  | { readonly case: 'organizationId'; readonly value: string }
  | { readonly case: 'locationId'; readonly value: string }
  | { readonly case: 'machineId'; readonly value: string }
  | { readonly case: 'partId'; readonly value: string };

export function scopeOptions(command: Command): Command {
  return command
    .option('--part <part>', 'only this part: id, Machine/part, or a machine (for its main part)')
    .option('--machine <machine>', 'only the parts of this machine')
    .option('--location <location>', 'only at this location and those below it');
}

/** @throws invalid_argument if several of the options are given */
export async function scopeOf({ find }: Context, flags: Flags): Promise<Scope> {
  const { part, machine, location } = flags as Readonly<Record<string, string | undefined>>;
  const given = Object.entries({ part, machine, location }).filter(([, text]) => text !== undefined);
  if (given.length > 1)
    throw invalidArgument(
      `expected one of --part, --machine and --location, found ${given.map(([name]) => `--${name}`).join(' and ')}`,
    );
  if (part !== undefined) return { case: 'partId', value: (await find.part(part)).id };
  if (machine !== undefined) return { case: 'machineId', value: (await find.machine(machine)).id };
  if (location !== undefined) return { case: 'locationId', value: (await find.location(location)).id };
  return { case: 'organizationId', value: (await find.organization()).id };
}
