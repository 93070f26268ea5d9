/** A command of `platform admin`: it takes --data instead of a login, and a process of the cloud app answers it. */
import { resolve } from 'node:path';
import type { JsonObject } from '@platform/sdk/cloud';
import type { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { type CommandHelp, defineLocalCommand, type Flags } from '../../invocation/define-command.ts';
import { type Named, pick } from '../../invocation/find.ts';
import { askAdmin } from './ask-admin.ts';

export type Ask = (command: string, params?: JsonObject) => Promise<unknown>;

/** @param run `ask` sends one operation to the installation of --data. */
export function defineAdminCommand(
  command: Command,
  help: CommandHelp,
  run: (ask: Ask, context: Context, flags: Flags, ...args: (string | undefined)[]) => Promise<void>,
): Command {
  command.option('--data <dir>', 'data directory of the cloud (default: PLATFORM_HOME/cloud, or ~/.platform/cloud)');
  return defineLocalCommand(command, help, (context, flags, ...args) => {
    const data = flags['data'];
    const ask: Ask = (name, params = {}) =>
      askAdmin(context, {
        ...params,
        command: name,
        ...(data === undefined ? {} : { dataDirectory: resolve(String(data)) }),
      });
    return run(ask, context, flags, ...args);
  });
}

/** An organization of this installation. */
export interface Organization extends Named {
  readonly createdMs: number;
}

export async function organizationsOf(ask: Ask): Promise<readonly Organization[]> {
  return (await ask('organizations.list')) as readonly Organization[];
}

/** @param text name or id. @throws not_found with similar names */
export async function organizationNamed(ask: Ask, text: string): Promise<Organization> {
  return pick('organization', text, await organizationsOf(ask));
}

/** Milliseconds since 1970 as RFC 3339. */
export function timeText(ms: unknown): string | null {
  return typeof ms === 'number' ? new Date(ms).toISOString() : null;
}
