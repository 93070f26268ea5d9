/** Installs the dependencies in the lockfile if node_modules lacks some. Plain JavaScript for any Node ≥ 20. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lists packages in the lockfile that node_modules lacks: compares package-lock.json with npm's own record of installed packages. Ignores
 * absent optional packages (other systems' binaries), but not different versions of them; and packages that are bundled with others, whose
 * checksums npm does not record.
 * @param {string} root
 * @returns {string[]}
 */
export function missingPackages(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  return Object.keys(wanted ?? {}).filter((path) => {
    if (path === '' || wanted[path].extraneous || wanted[path].inBundle) return false;
    const have = present?.[path];
    if (!have) return !wanted[path].optional;
    return have.version !== wanted[path].version || have.integrity !== wanted[path].integrity;
  });
}

/**
 * @param {string} root
 * @param {(line: string) => void} say
 * @param {(line: string) => () => void} during announces a slow step; returns a function that removes the line
 * @returns {boolean} false when the installation failed (npm's output has been shown)
 */
export function installMissing(root, say, during) {
  const missing = missingPackages(root);
  if (missing.length === 0) return true;
  const done = during(`installing ${missing.length} packages with npm ci (once, about a minute) …`);
  const started = performance.now();
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath;
  // If npm started this process, uses the same npm; otherwise the one on the path.
  const [command, all] = npm?.endsWith('.js') ? [process.execPath, [npm, ...args]] : ['npm', args];
  const result = spawnSync(command, all, {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32' && command === 'npm',
  });
  done();
  if (result.status === 0) {
    say(`installed in ${((performance.now() - started) / 1_000).toFixed(0)} s`);
    return true;
  }
  say(
    `npm ci failed (${result.error?.message ?? `exit ${result.status}`}) with this output:\n${result.stdout ?? ''}${result.stderr ?? ''}`,
  );
  return false;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
