/** What the environment says to the command line; read here only. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import envPaths from 'env-paths';

const env = process.env;

/** Folder of everything that the platform keeps on this computer: PLATFORM_HOME, or ~/.platform (D16). */
export const homeDir: string = env['PLATFORM_HOME'] || join(homedir(), '.platform');

/** Folder of the command line's own files: under PLATFORM_HOME when that is set, else where the system keeps settings. */
export const configDir: string = env['PLATFORM_HOME']
  ? join(env['PLATFORM_HOME'], 'cli')
  : envPaths('platform', { suffix: '' }).config;

/** Passed on to processes that we start. */
export const inherited: NodeJS.ProcessEnv = env;

/** Colours are wanted: a terminal that does not ask for none (NO_COLOR). */
export const colours: boolean = Boolean(process.stdout.isTTY) && !env['NO_COLOR'];

/** Columns of the terminal that shows the result; undefined when the result goes elsewhere. */
export const terminalWidth: number | undefined = process.stdout.isTTY ? process.stdout.columns || 80 : undefined;

/** Somebody can be asked: both ends are a terminal. */
export const interactive: boolean = Boolean(process.stdin.isTTY && process.stderr.isTTY) && !env['CI'];

/** What the environment says about the cloud and its credentials; each empty when unset. */
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
