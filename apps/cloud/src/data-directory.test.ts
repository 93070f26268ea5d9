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

const stores = ['meta.sqlite', 'ingest.sqlite', 'instance.key'];

/** Returns a directory whose first start was completed. */
function completed(): string {
  const path = join(temporary(), 'new');
  using first = openDataDirectory(path);
  for (const name of stores) writeFileSync(join(path, name), 'x');
  first.complete();
  return path;
}

test('a directory stays new until a first start is completed, however many were interrupted', () => {
  const path = join(temporary(), 'deep', 'new');
  for (let start = 0; start < 3; start++) {
    using opened = openDataDirectory(path);
    expect(opened.isNew).toBe(true);
  }
  using last = openDataDirectory(completed());
  expect(last.isNew).toBe(false);
});

test.each(stores)(
  'a complete directory with %s missing or empty is refused, and nothing is created in its place',
  (name) => {
    const path = completed();
    const before = readdirSync(path).filter((one) => one !== name);
    writeFileSync(join(path, name), '');
    expect(() => openDataDirectory(path)).toThrow(`expected ${name} of earlier starts, found it missing or empty`);
    rmSync(join(path, name));
    expect(() => openDataDirectory(path)).toThrow(/Nothing was changed; restore from a backup/);
    expect(readdirSync(path)).toEqual(before);
  },
);

test('the directory needs no key file if the instance key comes from the environment', () => {
  const path = completed();
  rmSync(join(path, 'instance.key'));
  expect(() => openDataDirectory(path, false)[Symbol.dispose]()).not.toThrow();
});

test.each([
  ['', 'JSON'],
  ['null', 'an object'],
  ['{"format":"other"}', '"format":"platform-data"'],
  ['{"format":"platform-data","version":"1"}', '"version" to be a whole number'],
  ['{"format":"platform-data","version":0}', '"version" to be a whole number'],
  ['{"format":"platform-data","version":103,"stage":"?"}', '"stage" to be'],
])('a damaged marker %j is refused with what was expected and found, and is not changed', (text, expected) => {
  const path = temporary();
  writeFileSync(join(path, 'platform.json'), text);
  expect(() => openDataDirectory(path)).toThrow(`expected ${expected}`);
  expect(readFileSync(join(path, 'platform.json'), 'utf8')).toBe(text);
});

test('a path where a directory cannot be created is refused at once', () => {
  expect(() => openDataDirectory('/proc/platform-data')).toThrow(
    /data directory \/proc\/platform-data cannot be written/,
  );
});

test('a directory with foreign files is refused with the name of one of them, and nothing is written', () => {
  const path = temporary();
  writeFileSync(join(path, 'thesis.txt'), 'mine');
  expect(() => openDataDirectory(path)).toThrow(
    /is not ours: expected it to be empty or to contain platform.json, found thesis.txt/,
  );
  expect(readdirSync(path)).toEqual(['thesis.txt']);
});

test('a data directory of a newer version is refused with both versions, and is not changed', () => {
  const path = temporary();
  const marker = JSON.stringify({ format: 'platform-data', version: 104, stage: 'complete' });
  writeFileSync(join(path, 'platform.json'), marker);
  expect(() => openDataDirectory(path)).toThrow(
    /has version 104, but this version supports only versions up to 103: start the newer version that wrote it/,
  );
  expect(readFileSync(join(path, 'platform.json'), 'utf8')).toBe(marker);
});

test('a path that is a file is refused with advice on what to do', () => {
  const path = join(temporary(), 'file');
  writeFileSync(path, '');
  expect(() => openDataDirectory(path)).toThrow(
    /expected a directory, found a file. Choose another directory with --data DIR/,
  );
});

test('a directory locked by a running process is refused with its process id; the lock of a dead process is taken over', () => {
  const path = join(temporary(), 'held');
  openDataDirectory(path)[Symbol.dispose]();
  writeFileSync(join(path, 'lock'), `${process.ppid} `);
  expect(() => openDataDirectory(path)).toThrow(`in use by process ${process.ppid}`);
  writeFileSync(join(path, 'lock'), `${2 ** 22 + 1} `);
  expect(() => openDataDirectory(path)[Symbol.dispose]()).not.toThrow();
});
