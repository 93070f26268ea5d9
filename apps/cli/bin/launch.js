/** Starts a program of the platform with Node 24 or newer. Plain JavaScript for any Node ≥ 20, because it runs before a newer one is found. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { becomeNode, thriftyEnvironment, thriftyFlags } from './become-node.js';
import { findNode } from './find-node.js';

/**
 * Sets the exit code of this process, or replaces it.
 * @param {string} main path of the program's main module
 * @param {{ saysNode?: boolean, flags?: readonly string[] }} [options] saysNode: print which Node was found, unless it is of the
 *   version that the npm packages carry
 */
export async function launch(main, { saysNode = false, flags = thriftyFlags } = {}) {
  const { found, missing } = findNode(import.meta.url);
  if (!found) {
    process.stderr.write(`${missing}\n`);
    process.exitCode = 1;
    return;
  }
  if (saysNode && !found.isPinned) process.stderr.write(`platform: Node ${found.version} (${found.source})\n`);
  const home = process.env.PLATFORM_HOME ?? join(homedir(), '.platform');
  const env = { ...thriftyEnvironment, NODE_COMPILE_CACHE: join(home, 'cache', 'compile'), ...process.env };
  const args = [...flags, '--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)];
  process.exitCode = await becomeNode(found, args, env);
}
