/** What a run of the command line uses of its process, and its settings: the environment variables, which are read only here, and the terminal. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import envPaths from 'env-paths';

/** The terminal, or where the output goes instead. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

type Signal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

/**
 * What a run uses of its process; `process` is one. Tests pass their own, so that one process can run many commands. The working
 * directory is always that of the process.
 */
export interface Invocation {
  /** Also for the editor, and for the processes of the cloud that a command starts. */
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Unset: 0. */
  exitCode?: number | string | null | undefined;
  on(signal: Signal, listener: () => void): unknown;
  once(signal: Signal, listener: () => void): unknown;
  off(signal: Signal, listener: () => void): unknown;
}

const invocations = new WeakMap<Command, Invocation>();

/** @param program the command that contains all others */
export function setInvocation(program: Command, invocation: Invocation): void {
  invocations.set(program, invocation);
}

/** That of the program to which the command belongs. */
export function invocationOf(command: Command): Invocation {
  const invocation = command.parent === null ? invocations.get(command) : invocationOf(command.parent);
  if (invocation === undefined) throw new Error(`${command.name()}: expected a program with an invocation, found none`);
  return invocation;
}

export interface Settings {
  /** The directory for everything that the platform stores on this computer: PLATFORM_HOME, or ~/.platform (D16). */
  readonly homeDir: string;
  /** The directory for the command line's own files: under PLATFORM_HOME if that is set, otherwise in the system's settings directory. */
  readonly configDir: string;
  /** The directory in which the installation of a service put the script that removes it. */
  readonly sbinDir: string;
  /** Whether to use colours: on a terminal, unless NO_COLOR is set. */
  readonly colours: boolean;
  /** Columns of the terminal that shows the result; undefined if the result goes elsewhere. */
  readonly terminalWidth: number | undefined;
  /** Whether the user can be asked: input and messages use a terminal. */
  readonly interactive: boolean;
  /** The cloud and its credentials according to the environment; each is empty if unset. */
  readonly fromEnvironment: Readonly<
    Record<'url' | 'profile' | 'keyId' | 'key' | 'organization' | 'output' | 'editor', string>
  >;
}

export function readSettings({
  env,
  stdin,
  stdout,
  stderr,
}: Pick<Invocation, 'env' | 'stdin' | 'stdout' | 'stderr'>): Settings {
  return {
    homeDir: env['PLATFORM_HOME'] || join(homedir(), '.platform'),
    configDir: env['PLATFORM_HOME'] ? join(env['PLATFORM_HOME'], 'cli') : envPaths('platform', { suffix: '' }).config,
    sbinDir: env['PLATFORM_SBIN_DIRECTORY'] || '/usr/local/sbin',
    colours: Boolean(stdout.isTTY) && !env['NO_COLOR'],
    terminalWidth: stdout.isTTY ? stdout.columns || 80 : undefined,
    interactive: Boolean(stdin.isTTY && stderr.isTTY) && !env['CI'],
    fromEnvironment: {
      url: env['PLATFORM_URL'] ?? '',
      profile: env['PLATFORM_PROFILE'] ?? '',
      keyId: env['PLATFORM_API_KEY_ID'] ?? '',
      key: env['PLATFORM_API_KEY'] ?? '',
      organization: env['PLATFORM_ORGANIZATION'] ?? '',
      output: env['PLATFORM_OUTPUT'] ?? '',
      editor: env['VISUAL'] || env['EDITOR'] || '',
    },
  };
}

/** Whether this is a checkout, whose launcher sets this condition, or an installed package. */
export const isCheckout: boolean = process.execArgv.includes('--conditions=@platform/source');

/** The command with which the user started the command line: the launcher of a checkout names it, and npx runs it as a script. */
export function commandName(env: NodeJS.ProcessEnv): string {
  const isNpx = env['npm_command'] === 'exec' && /^["']?platform\b/.test(env['npm_lifecycle_script'] ?? '');
  return env['PLATFORM_COMMAND'] || (isNpx ? 'npx platform' : 'platform');
}
