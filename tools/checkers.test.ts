import { expect, test } from 'vitest';
import { decisionsIn, numbersInTitles } from './check-invariants.ts';
import { checkPlaces } from './check-places.ts';
import { filesToCheck, isSource, tracked } from './repository.ts';

test('numbers count only at the start of a test title', () => {
  const text = `test('I5 D13 a retry', () => {}); test("no I9 here"); test.each([1])('I7 %s', f); it(\`D4, D20: x\`)`;
  expect(numbersInTitles(text)).toEqual(['I5', 'D13', 'I7', 'D4', 'D20']);
});

test('decisions that a source names; other letters and numbers are none', () => {
  expect(decisionsIn('// D16, (D4) D99 3D6 D128 UUID4')).toEqual(['D16', 'D4']);
});

test('the file system is refused outside the named files, its types are not', () => {
  const text = `import type { Stats } from 'node:fs';\nimport {\n  readFile,\n} from 'node:fs/promises';`;
  expect(checkPlaces('apps/cloud/src/triggers/a.ts', text)).toEqual([
    'apps/cloud/src/triggers/a.ts:4: file system used outside the named files; take a store, or a function that reads',
  ]);
  expect(checkPlaces('apps/cloud/src/blobs/a.ts', text)).toEqual([]);
});

test('clock, timers, randomness, environment and fetch are refused outside the named files, not in comments', () => {
  const text = `const t = Date.now(); setTimeout(f, 1); Math.random(); process.env.X; fetch('x') // Date.now()`;
  expect(checkPlaces('apps/cloud/src/ingest/a.ts', text)).toHaveLength(5);
  expect(checkPlaces('apps/cloud/src/ingest/a.test.ts', text)).toEqual([]);
  expect(checkPlaces('packages/base/src/clock.ts', '// Date.now()\nDate.now()')).toEqual([]);
});

test('a checker sees every file that git lists, and one that sees none fails', () => {
  const files = filesToCheck(['tools'], isSource);
  expect(files.length).toBeGreaterThanOrEqual(tracked(['tools'], isSource).length);
  expect(files).toContain('tools/checkers.test.ts');
  expect(() => filesToCheck(['tools'], () => false)).toThrow('saw no file');
  expect(() => filesToCheck(['no-such-folder'], isSource)).toThrow('saw no file');
});
