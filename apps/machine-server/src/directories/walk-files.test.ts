import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { walkFiles } from './walk-files.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'walk-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), '');
  }
}

/** Sorted, and relative to `root`. @param from in `root` */
async function walked(from = '.', onUnreadable?: (path: string) => void): Promise<string[]> {
  const found: string[] = [];
  for await (const path of walkFiles(join(root, from), new AbortController().signal, onUnreadable && { onUnreadable }))
    found.push(path.slice(root.length + 1));
  return found.sort();
}

test('files of all folders are listed, but not those that were set aside', async () => {
  write(
    'a.capture',
    'sensor/one/a.capture',
    'sensor/one/b.capture',
    'sensor/failed/c.capture',
    'empty/failed/d.capture',
  );
  expect(await walked()).toEqual(['a.capture', 'sensor/one/a.capture', 'sensor/one/b.capture']);
});

test('a capture directory of another process is not entered, whether it is small or large; our own is', async () => {
  const large = Array.from({ length: 1_500 }, (_, i) => `${i}-${'long-name'.repeat(8)}.capture`);
  write('.lock', 'small/.lock', 'small/a.capture', 'small/deeper/b.capture', 'large/.lock');
  write(...large.map((name) => join('large', name)), ...large.map((name) => join('ours', name)));
  expect(statSync(join(root, 'large')).size).toBeGreaterThan(64 << 10);
  expect(await walked()).toEqual(['.lock', ...large.map((name) => `ours/${name}`)].sort());
});

test('a folder that disappears is skipped; one that is not a folder is reported', async () => {
  write('file');
  const reported: string[] = [];
  expect([...(await walked('gone', (path) => reported.push(path))), ...reported]).toEqual([]);
  expect(await walked('file', (path) => reported.push(path))).toEqual([]);
  expect(reported).toEqual([join(root, 'file')]);
});
