import { mkdir, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { LogFile, type LogFileOptions } from './log-file.ts';

type State = Parameters<LogFileOptions['onState']>[0];

async function rig(options: Partial<LogFileOptions> = {}) {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const path = directory.file('server.log');
  const clock = new FakeClock();
  const states: State[] = [];
  const openFile = (): LogFile => new LogFile({ path, clock, onState: (state) => states.push(state), ...options });
  return { directory, path, clock, states, openFile };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

const text = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

test('a full file becomes .1 and the older ones move on; the oldest is deleted, even across restarts', async () => {
  const { path, directory, openFile } = await rig({ maxBytes: 100, oldFiles: 2 });
  for (let start = 0; start < 5; start++) {
    await using file = openFile();
    for (let n = 0; n < 10; n++) file.write(`line ${start * 10 + n}, 20 bytes..\n`.padStart(20));
  }
  expect((await readdir(directory.path)).toSorted()).toEqual(['server.log', 'server.log.1', 'server.log.2']);
  const kept = [await text(`${path}.2`), await text(`${path}.1`), await text(path)];
  for (const each of kept) expect(each.length).toBeLessThanOrEqual(100);
  const numbers =
    kept
      .join('')
      .match(/(?<=line )\d+/g)
      ?.map(Number) ?? [];
  // The newest lines, in order, none missing or twice.
  expect(numbers).toEqual(numbers.map((_, index) => 50 - numbers.length + index));
  expect(numbers.length).toBeGreaterThanOrEqual(9);
});

test('a line longer than the limit is written completely, into a separate file', async () => {
  const { path, openFile } = await rig({ maxBytes: 10, oldFiles: 2 });
  {
    await using file = openFile();
    for (const line of ['a\n', `${'b'.repeat(50)}\n`, 'c\n']) file.write(line);
  }
  expect([await text(`${path}.2`), await text(`${path}.1`), await text(path)]).toEqual([
    'a\n',
    `${'b'.repeat(50)}\n`,
    'c\n',
  ]);
});

test('a file that another process moves, deletes or truncates is written again from its beginning', async () => {
  const { path, states, openFile } = await rig();
  await using file = openFile();
  file.write('one\n');
  await until(async () => (await text(path)) === 'one\n');
  await rename(path, `${path}.moved`);
  file.write('two\n');
  await until(async () => (await text(path)) === 'two\n');
  expect(await text(`${path}.moved`)).toBe('one\n');
  await rm(path);
  file.write('three\n');
  await until(async () => (await text(path)) === 'three\n');
  await truncate(path);
  file.write('four\n');
  await until(async () => (await text(path)) === 'four\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(states).toEqual([]);
});

test('a full disk is reported once; when there is space, waiting lines are written, and the report counts the dropped ones', async () => {
  const { path, clock, states, openFile } = await rig({ maxWaitingBytes: 12 });
  await symlink('/dev/full', path);
  await using file = openFile();
  file.write('one..\n');
  await until(() => states.length === 1);
  expect(states).toEqual([{ problem: expect.stringContaining('ENOSPC') }]);
  for (const line of ['two..\n', 'three\n', 'four.\n']) file.write(line);
  await clock.advance(60_000);
  expect(states).toHaveLength(1);
  await rm(path);
  await until(async () => {
    await clock.advance(5_000);
    return states.length === 2;
  });
  expect(states[1]).toEqual({ dropped: 2 });
  expect(await text(path)).toBe('three\nfour.\n');
});

test('an unwritable directory is reported once, and neither throws nor delays a stop', async () => {
  const { directory, states } = await rig();
  await writeFile(directory.file('taken'), '');
  const clock = new FakeClock();
  for (const path of [directory.file('taken/log'), '/proc/none/log', directory.path]) {
    await using file = new LogFile({ path, clock, onState: (state) => states.push(state) });
    for (let n = 0; n < 100; n++) file.write('line\n');
  }
  expect(states).toHaveLength(3);
  // The log is written as soon as the directory exists.
  await rm(directory.file('taken'));
  await mkdir(directory.file('taken'));
  await using file = new LogFile({ path: directory.file('taken/log'), clock, onState: (state) => states.push(state) });
  file.write('line\n');
  await until(async () => (await text(directory.file('taken/log'))) === 'line\n');
});
