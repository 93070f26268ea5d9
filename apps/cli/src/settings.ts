/** What the environment says to the command line; read here only. */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Folder of everything that the platform keeps on this computer: PLATFORM_HOME, or ~/.platform (D16). */
export const homeDir: string = process.env['PLATFORM_HOME'] || join(homedir(), '.platform');

/** Passed on to processes that we start. */
export const inherited: NodeJS.ProcessEnv = process.env;

/** Colours are wanted: a terminal that does not ask for none (NO_COLOR). */
export const colours: boolean = Boolean(process.stdout.isTTY) && !process.env['NO_COLOR'];
