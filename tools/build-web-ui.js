/** Builds the web UI if its sources have changed since the last build. Plain JavaScript for any Node ≥ 20. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The sources of a build, relative to the root. */
const sources = [
  'apps/web/src',
  'apps/web/static',
  'apps/web/vite.config.ts',
  'tools/bundles/notices.ts',
  'apps/web/package.json',
  'packages/proto/src/gen',
  'packages/machine-config/src',
  'packages/base/src/zap-field.ts',
  'packages/base/src/log.ts',
];

/**
 * @param {string} root
 * @param {string} node path of Node 24
 * @param {(line: string) => void} say
 * @param {(line: string) => () => void} during announces a slow step; returns a function that removes the line
 * @returns {boolean} false when the build failed (its output has been shown)
 */
export function buildWebUi(root, node, say, during) {
  const folder = join(root, 'apps', 'web');
  const stamp = join(folder, 'build', '.sources');
  const current = hashOf(root);
  const isBuilt = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === current;
  if (isBuilt()) return true;
  const lock = join(folder, '.svelte-kit-building');
  try {
    takeLock(lock);
  } catch (error) {
    say(`the web UI could not be built: expected to write to ${folder}, found ${error.message}`);
    return false;
  }
  try {
    return isBuilt() || build({ folder, node, stamp, current, say, during });
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function build({ folder, node, stamp, current, say, during }) {
  const root = join(folder, '..', '..');
  const done = during('building the web UI (once, a few seconds) …');
  const started = performance.now();
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const result = spawnSync(node, [vite, 'build', '--logLevel', 'warn'], { cwd: folder, encoding: 'utf8' });
  done();
  if (result.status === 0) {
    writeFileSync(stamp, current);
    say(`built the web UI in ${((performance.now() - started) / 1_000).toFixed(1)} s`);
    return true;
  }
  say(
    `the web UI could not be built; output of vite:\n${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}`,
  );
  return false;
}

/** Prevents two concurrent builds, which would write to the same files. A lock older than any build takes was left by a killed one. */
function takeLock(lock) {
  const longestMs = 180_000;
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (existsSync(lock) && performance.timeOrigin + performance.now() - statSync(lock).mtimeMs > longestMs)
        rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
}

/** Of the sources with their paths, however the path of the root is written. @param {string} root @returns {string} */
export function hashOf(root) {
  const hash = createHash('sha256');
  for (const source of sources) {
    const path = join(root, source);
    if (!existsSync(path)) continue;
    for (const file of filesOf(path)) hash.update(relative(root, file)).update(readFileSync(file));
  }
  return hash.digest('hex');
}

function filesOf(path) {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .sort();
  } catch {
    return [path];
  }
}
