import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inputsOf, keyedCheck, keyOf } from './keyed-check.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-keyed-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a check that passed is not run again until its key changes; a damaged stamp counts as none', () => {
  const below = join(folder, 'new');
  const first = keyedCheck('image', 'a', below);
  expect(first.unchanged).toBeUndefined();
  expect(keyedCheck('image', 'a', below).unchanged).toBeUndefined();
  first.passed();
  expect(keyedCheck('image', 'a', below).unchanged).toMatch(/^unchanged since it passed on \d{4}-.*, key a$/);
  expect(keyedCheck('other', 'a', below).unchanged).toBeUndefined();
  expect(keyedCheck('image', 'b', below).unchanged).toBeUndefined();
  mkdirSync(below, { recursive: true });
  writeFileSync(join(below, 'image.json'), '{"key":"a"');
  expect(keyedCheck('image', 'a', below).unchanged).toBeUndefined();
});

test('the key depends on the content and the name of each file, and on what else decides', () => {
  const key = (texts: Record<string, string>, more = '1'): string =>
    keyOf(Object.keys(texts), [more], (path) => texts[path] ?? '');
  const keys = [
    key({ a: 'x', b: 'y' }),
    key({ a: 'y', b: 'x' }),
    key({ a: 'xb', b: 'y' }),
    key({ a: 'x', c: 'y' }),
    key({ a: 'x', b: 'y' }, '2'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(key({ a: 'x', b: 'y' })).toBe(keys[0]);
});

test('inputs are the package files, the lockfile, the launchers, what a tool loads, and what is named', () => {
  const inputs = inputsOf(['tools/image-check.ts'], ['deploy']);
  expect(inputs).toEqual(
    expect.arrayContaining([
      ...['package.json', 'package-lock.json', 'apps/cli/package.json', 'packages/base/package.json'],
      ...['apps/cli/bin/find-node.js', 'deploy/Dockerfile', 'tools/image-check.ts', 'tools/pack-packages.ts'],
    ]),
  );
  expect(inputs).not.toContain('tools/check.ts');
  expect(inputsOf(['tools/pack-check.ts'])).not.toContain('deploy/Dockerfile');
});
