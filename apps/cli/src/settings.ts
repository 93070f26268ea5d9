/** The environment variables of the command line; read only here. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import envPaths from 'env-paths';

const env = process.env;

/** The directory for everything that the platform stores on this computer: PLATFORM_HOME, or ~/.platform (D16). */
export const homeDir: string = env['PLATFORM_HOME'] || join(homedir(), '.platform');

/** The directory for the command line's own files: under PLATFORM_HOME if that is set, otherwise in the system's settings directory. */
export const configDir: string = env['PLATFORM_HOME']
  ? join(env['PLATFORM_HOME'], 'cli')
  : envPaths('platform', { suffix: '' }).config;

/** The environment for processes that we start. */
export const inherited: NodeJS.ProcessEnv = env;

/** Whether to use colours: on a terminal, unless NO_COLOR is set. */
export const colours: boolean = Boolean(process.stdout.isTTY) && !env['NO_COLOR'];

/** Columns of the terminal that shows the result; undefined if the result goes elsewhere. */
export const terminalWidth: number | undefined = process.stdout.isTTY ? process.stdout.columns || 80 : undefined;

/** Whether the user can be asked: input and messages use a terminal. */
export const interactive: boolean = Boolean(process.stdin.isTTY && process.stderr.isTTY) && !env['CI'];

/** The cloud and its credentials according to the environment; each is empty if unset. */
export const fromEnvironment: Readonly<
  Record<'url' | 'profile' | 'keyId' | 'key' | 'organization' | 'output' | 'editor', string>
> = {
  url: env['PLATFORM_URL'] ?? '',
  profile: env['PLATFORM_PROFILE'] ?? '',
  keyId: env['PLATFORM_API_KEY_ID'] ?? '',
  key: env['PLATFORM_API_KEY'] ?? '',
  organization: env['PLATFORM_ORGANIZATION'] ?? '',
  output: env['PLATFORM_OUTPUT'] ?? '',
  editor: env['VISUAL'] || env['EDITOR'] || '',
};

/** Whether this is a checkout, whose launcher sets this condition, or an installed package. */
export const isCheckout: boolean = process.execArgv.includes('--conditions=@platform/source');

/** The command with which the user starts the command line. */
export const commandNames: { readonly platform: string } = isCheckout
  ? { platform: 'node tools/run.js' }
  : { platform: 'platform' };
