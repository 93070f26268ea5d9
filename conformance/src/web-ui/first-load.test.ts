/** What a browser loads before it shows the first page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { build, buildOnce } from './start-ui.ts';

const floorBytes = 200_000;

/** Files that the entries import statically, directly or indirectly. */
function firstScripts(): readonly string[] {
  const page = readFileSync(join(build, 'index.html'), 'utf8');
  const found = new Set([...page.matchAll(/\/(_app\/immutable\/[\w/.-]+\.js)/g)].map(([, path = '']) => path));
  // The route loads layouts and pages: those of the first page count, too.
  const entry = readFileSync(join(build, [...found].find((path) => path.includes('/entry/app.')) ?? ''), 'utf8');
  for (const [, name = ''] of entry.matchAll(/nodes\/([\w.-]+\.js)/g)) found.add(`_app/immutable/nodes/${name}`);
  for (const path of found) {
    const text = readFileSync(join(build, path), 'utf8');
    for (const [, relative = ''] of text.matchAll(/(?:from|^import|;import)\s*["'](\.[^"']+\.js)["']/g))
      found.add(join(path, '..', relative));
  }
  return [...found];
}

test('the scripts of all pages together, without the editor and charts that load on demand, have at most 200 kB gzip', () => {
  buildOnce();
  const scripts = firstScripts();
  expect(scripts.length).toBeGreaterThan(5);
  const sizes = scripts.map((path) => gzipSync(readFileSync(join(build, path)), { level: 9 }).length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`web UI: ${(bytes / 1_000).toFixed(1)} kB of scripts gzip`);
  expect(bytes).toBeLessThan(floorBytes);
});
