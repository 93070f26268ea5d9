/**
 * Runs TypeScript files of this repository, even in a fresh clone: installs missing packages, finds Node 24 or newer, prints which, and
 * runs the file from source. Plain JavaScript for any Node ≥ 20.
 *
 *   node tools/run.js up --json          the platform command line with its arguments
 *   node tools/run.js tools/check.ts     a TypeScript file with its arguments
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { becomeNode, thriftyEnvironment, thriftyFlags } from '../apps/cli/bin/become-node.js';
import { findNode } from '../apps/cli/bin/find-node.js';
import { nodeFlags } from '../apps/machine-server/node-flags.js';
import { buildWebUi } from './build-web-ui.js';
import { installMissing } from './install-missing.js';

/** The only other program of the product that is started here. */
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
  const isCommand = !first?.endsWith('.ts');
  const isProduct = isCommand || first === machineServer;
  const source = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
  const flags = isCommand ? thriftyFlags : isProduct ? nodeFlags : [];
  const env = {
    ...(isProduct ? thriftyEnvironment : {}),
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compile'),
    ...process.env,
  };
  if (isProduct) warmCache(found, [...thriftyFlags, ...source], env);
  // Without the web UI, the cloud shows its status page.
  if (first === 'up') buildWebUi(root, found.path, say, during);
  const [file, ...args] = [...(isCommand ? ['apps/cli/src/main.ts'] : []), ...(first ? [first] : []), ...rest];
  return becomeNode(found, [...flags, ...source, join(root, file), ...args], env);
}

/** Runs after an installation, and once for each Node: fills the compile cache, so that the first start is as fast as later ones. */
function warmCache(node, flags, env) {
  const folder = join(root, 'node_modules', '.cache');
  const stamp = join(folder, `warmed-for-node-${node.version}`);
  if (existsSync(stamp)) return;
  const done = during('preparing the first start (once, a few seconds) …');
  // Optional: a start works without it.
  const { status } = spawnSync(node.path, [...flags, join(root, 'tools', 'warm-cache.ts')], { env, stdio: 'ignore' });
  done();
  if (status !== 0) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(stamp, '');
}
