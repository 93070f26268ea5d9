import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDataDirectory } from './data-directory.ts';

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'data-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('an empty directory becomes ours, and is ours at the next start', () => {
  const path = join(temporary(), 'new');
  const first = openDataDirectory(path);
  expect(first.isNew).toBe(true);
  first[Symbol.dispose]();
  using second = openDataDirectory(path);
  expect(second.isNew).toBe(false);
});

test('a directory with foreign files is refused by what was found in it, and nothing is written', () => {
  const path = temporary();
  writeFileSync(join(path, 'thesis.txt'), 'mine');
  expect(() => openDataDirectory(path)).toThrow(
    /is not ours: expected it to be empty or to hold platform.json, found thesis.txt/,
  );
  expect(readdirSync(path)).toEqual(['thesis.txt']);
});

test('a data directory of a newer version is refused with both versions, and left as it is', () => {
  const path = temporary();
  const marker = JSON.stringify({ format: 'platform-data', version: 99 });
  writeFileSync(join(path, 'platform.json'), marker);
  expect(() => openDataDirectory(path)).toThrow(/has version 99, this program reads up to version 1/);
  expect(readFileSync(join(path, 'platform.json'), 'utf8')).toBe(marker);
});

test('a path that cannot be a directory says so and what to do', () => {
  const path = join(temporary(), 'file');
  writeFileSync(path, '');
  expect(() => openDataDirectory(path)).toThrow(/cannot be written: .*Choose another with --data DIR/);
});

test('a directory that a living process holds is refused with its process id; a dead one is taken over', () => {
  const path = join(temporary(), 'held');
  openDataDirectory(path)[Symbol.dispose]();
  writeFileSync(join(path, 'lock'), `${process.ppid} `);
  expect(() => openDataDirectory(path)).toThrow(`in use by process ${process.ppid}`);
  writeFileSync(join(path, 'lock'), `${2 ** 22 + 1} `);
  expect(() => openDataDirectory(path)[Symbol.dispose]()).not.toThrow();
});
