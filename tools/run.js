/**
 * Runs this repository, even in a fresh clone: installs missing packages, finds Node 24 or newer and prints which. Plain JavaScript for any
 * Node ≥ 20.
 *
 *   node tools/run.js up --json          the platform command line with its arguments, from bundles, which are built if a source has changed
 *   node tools/run.js tools/check.ts     a TypeScript file with its arguments, from source
 */
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { becomeNode, thriftyEnvironment, thriftyFlags } from '../apps/cli/bin/become-node.js';
import { findNode } from '../apps/cli/bin/find-node.js';
import { nodeFlags } from '../apps/machine-server/node-flags.js';
import { buildWebUi } from './build-web-ui.js';
import { findBundles } from './bundles/find-bundles.js';
import { installMissing } from './install-missing.js';

/** A program of the product, which gets the flags and the environment of one. */
const machineServer = 'apps/machine-server/src/main.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const say = (line) => process.stderr.write(`platform: ${line}\n`);
/** Announces a slow step; returns a function that removes the line from a terminal. */
const during = (line) => {
  const { isTTY } = process.stderr;
  process.stderr.write(`platform: ${line}${isTTY ? '' : '\n'}`);
  return () => isTTY && process.stderr.write('\r\u001b[K');
};

process.exitCode = await run(process.argv.slice(2));

async function run([first, ...rest]) {
  if (!installMissing(root, say, during)) return 1;
  const { found, missing } = findNode(import.meta.url);
  if (!found) {
    process.stderr.write(`${missing}\n`);
    return 1;
  }
  if (!found.isPinned) say(`Node ${found.version} (${found.source})`);
  const source = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
  if (first?.endsWith('.ts')) {
    const isProduct = first === machineServer;
    const cache = join(root, 'node_modules', '.cache', 'compile');
    const env = { ...(isProduct ? thriftyEnvironment : {}), NODE_COMPILE_CACHE: cache, ...process.env };
    return becomeNode(found, [...(isProduct ? nodeFlags : []), ...source, join(root, first), ...rest], env);
  }
  const bundles = findBundles(root, found.path, say, during);
  if (bundles === undefined) return 1;
  // Without the web UI, the cloud shows its status page.
  if (first === 'up') buildWebUi(root, found.path, say, during);
  const env = {
    ...{ ...thriftyEnvironment, NODE_COMPILE_CACHE: join(bundles, 'compiled'), ...process.env },
    // Hints of the command line name the command that works in this directory.
    PLATFORM_COMMAND: `node ${shellWord(relative(process.cwd(), join(root, 'tools', 'run.js')))}`,
  };
  const args = [...(first === undefined ? [] : [first]), ...rest];
  return becomeNode(found, [...thriftyFlags, ...source, join(bundles, 'platform.js'), ...args], env);
}

/** A path as one word of a shell command. */
function shellWord(path) {
  return /^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
