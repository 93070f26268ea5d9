/** A command of `platform admin`: it takes --data instead of a login, and a process of the cloud app answers it. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { type JsonObject, PlatformError } from '@platform/sdk/cloud';
import type { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { type CommandHelp, defineLocalCommand, type Flags } from '../../invocation/define-command.ts';
import { type Named, pick } from '../../invocation/find.ts';
import { programs } from '../../programs.ts';

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

type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: ConstructorParameters<typeof PlatformError>[0]; readonly message: string } };

/**
 * Runs one command of the host administrator in a process of the cloud app, which takes the key and the lock of the data directory.
 * Progress goes to stderr unless --quiet is given. @throws the error that the process returned
 */
async function askAdmin(context: Context, request: JsonObject): Promise<unknown> {
  const entry = fileURLToPath(programs.admin);
  const { env, stderr } = context.invocation;
  // Inherited, because it shows its progress on a line of the terminal.
  const messages = stderr === process.stderr ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, [...process.execArgv, entry, JSON.stringify(request)], {
    // Through the channel, the process notices if this one ends, for whatever reason.
    stdio: ['ignore', 'pipe', context.out.style.quiet ? 'ignore' : messages, 'ipc'],
    env,
  });
  child.stderr?.pipe(stderr, { end: false });
  // Ctrl-C reaches the process through the terminal; it cleans up and reports that.
  const stop = (): void => void child.kill('SIGTERM');
  context.signal.addEventListener('abort', stop, { once: true });
  // The process reports its own progress.
  context.progress.pause();
  try {
    const said = child.stdout === null ? '' : await text(child.stdout);
    if (child.stderr !== null) await finished(child.stderr);
    if (said.trim() === '')
      throw new PlatformError('internal', 'the admin process ended without a result; see its output above');
    const answer: Answer = JSON.parse(said);
    if ('error' in answer) throw new PlatformError(answer.error.code, answer.error.message);
    return answer.result;
  } finally {
    context.progress.resume();
    context.signal.removeEventListener('abort', stop);
  }
}
