import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startProcess } from './server-process.ts';

/** `npm start` without npm: the launcher with the whole demo, on a free port. */
export function startDemo(folder: string): ServerProcess {
  const launcher = fileURLToPath(new URL('../../../tools/run.js', import.meta.url));
  const args = [launcher, 'up', '--json', '--port', '0', '--data', join(folder, 'cloud')];
  return startProcess(process.execPath, args, { PLATFORM_HOME: join(folder, 'home') });
}
