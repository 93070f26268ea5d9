/**
 * The bundles of this checkout, which are built when their sources have changed. Plain JavaScript for any Node ≥ 20.
 *
 * Each build has a folder of its own, and `current.json` names the newest whole one with its files and their sizes, and with size and times
 * of every file that went into it. Folders of earlier builds stay while a process that was started from them runs.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {string} root
 * @param {string} node path of Node 24
 * @param {(line: string) => void} say
 * @param {(line: string) => () => void} during announces a slow step; returns a function that removes the line
 * @returns {string | undefined} the folder; undefined when the build failed (its output has been shown)
 */
export function findBundles(root, node, say, during) {
  for (;;) {
    const current = currentBundles(root) ?? build(root, node, say, during);
    if (current === undefined || claim(current)) return current;
  }
}

/** Whoever builds the next ones leaves these alone while this process, which becomes the program, runs. False if they were just removed. */
function claim(folder) {
  try {
    writeFileSync(join(folder, `used-by-${process.pid}`), '');
    return true;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return false;
  }
}

/** The folder where bundles are kept. */
export const keptIn = (root) => join(root, 'node_modules', '.cache', 'bundles');

/** The newest build, unless a source has changed since, or the build is no longer whole. */
export function currentBundles(root) {
  const newest = newestBuild(root);
  return newest?.inputs.every(([file, stamp]) => isSame(root, file, stamp)) ? newest.folder : undefined;
}

/** The newest build if it is whole: its folder, and the stamps of what went into it. */
export function newestBuild(root) {
  try {
    const { folder, files, inputs } = JSON.parse(readFileSync(join(keptIn(root), 'current.json'), 'utf8'));
    const path = join(keptIn(root), folder);
    const isWhole = files.every(([file, size]) => statSync(join(path, file)).size === size);
    return isWhole ? { folder: path, inputs } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a file is still as it was when it got this stamp. */
export function isSame(root, file, stamp) {
  try {
    return stampOf(join(root, file)) === stamp;
  } catch {
    return false;
  }
}

/** Differs for every change of a file, also one that keeps its size and sets its time of modification back. */
export function stampOf(file) {
  const { size, mtimeMs, ctimeMs } = statSync(file);
  return `${size} ${mtimeMs} ${ctimeMs}`;
}

function build(root, node, say, during) {
  const done = during('bundling the sources (a few seconds) …');
  const flags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
  const program = join(root, 'tools', 'bundles', 'main.ts');
  const result = spawnSync(node, [...flags, program], { cwd: root, encoding: 'utf8' });
  done();
  if (result.status === 0) return join(keptIn(root), result.stdout.trim());
  say(`the sources could not be bundled:\n${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}`);
  return undefined;
}
