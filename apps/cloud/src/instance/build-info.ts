/** Name and version of this program, for its answers and requests. */
import { readFileSync } from 'node:fs';

/** The version in this app's package.json. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
