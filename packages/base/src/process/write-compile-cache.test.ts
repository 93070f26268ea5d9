import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Files in the compile cache after a process that loaded this module was killed. */
function keptOf(module: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'platform-compiled-'));
  try {
    const entry = join(folder, 'entry.mts');
    writeFileSync(entry, module);
    const cache = join(folder, 'cache');
    const { signal, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', entry], {
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
      encoding: 'utf8',
    });
    expect(signal, stderr).toBe('SIGKILL');
    return readdirSync(cache, { recursive: true, withFileTypes: true })
      .filter((found) => found.isFile())
      .map(({ name }) => name);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Another process does the killing: Node writes the cache when a process kills itself.
const killed = "import { execSync } from 'node:child_process'; execSync('kill -9 ' + process.pid);";

test('compiled code is kept even if the process is killed', () => {
  const keeper = JSON.stringify(new URL('./write-compile-cache.ts', import.meta.url).href);
  const turns = 'const clock = { every: (_: number, run: () => void) => run() };';
  expect(keptOf(killed)).toEqual([]);
  // Two files each for the entry and the keeper: types stripped, and compiled.
  expect(
    keptOf(`import { writeCompileCache } from ${keeper}; ${turns} writeCompileCache(clock as never); ${killed}`),
  ).toHaveLength(4);
});
