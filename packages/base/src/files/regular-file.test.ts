import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { FileTurns } from './file-turns.ts';
import { findRegular, openRegular, readRegular, readRegularNow, wireTime } from './regular-file.ts';

async function directory() {
  const made = await temporaryDirectory();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

const textOf = async (path: string, maxBytes = 100, followsLinks = false): Promise<string> =>
  Buffer.from(await readRegular(path, { maxBytes, followsLinks })).toString();

test('pipes, devices, folders and links are refused at once, by name; a link is followed on request', async () => {
  const { file } = await directory();
  execFileSync('mkfifo', [file('pipe')]);
  await mkdir(file('folder'));
  await writeFile(file('text'), 'abc');
  await symlink(file('text'), file('link'));
  await symlink(file('pipe'), file('link-to-pipe'));
  const refusals = [
    ['pipe', 'a pipe'],
    ['folder', 'a folder'],
    ['link', 'a link'],
  ] as const;
  for (const [name, found] of refusals)
    await expect(openRegular(file(name))).rejects.toThrow(`${file(name)}: expected a regular file, found ${found}`);
  await expect(readRegular('/dev/zero', { maxBytes: 9 })).rejects.toThrow('found a device');
  await expect(textOf(file('link-to-pipe'), 9, true)).rejects.toThrow('found a pipe');
  await expect(findRegular(file('pipe'))).rejects.toThrow('found a pipe');
  expect(await findRegular(file('none'))).toBeUndefined();
  expect((await findRegular(file('link')))?.size).toBe(3n);
  await expect(textOf(file('none'))).rejects.toMatchObject({ code: 'ENOENT' });
  expect(() => readRegularNow(file('pipe'), 9)).toThrow('found a pipe');
  expect(await textOf(file('text'))).toBe('abc');
  expect(await textOf(file('link'), 9, true)).toBe('abc');
  expect(readRegularNow(file('link'), 3).toString()).toBe('abc');
});

test('reading is bounded, also for a file that grows meanwhile; a file of the kernel, which has no size, is read as a whole', async () => {
  const { file } = await directory();
  await writeFile(file('text'), 'x'.repeat(101));
  const limit = { maxBytes: 100, limitName: 'most_bytes' };
  await expect(readRegular(file('text'), limit)).rejects.toMatchObject({
    code: 'resource_exhausted',
    message: `${file('text')}: expected at most 100 bytes (most_bytes), found 101`,
  });
  expect(() => readRegularNow(file('text'), 100)).toThrow('expected at most 100 bytes');
  await writeFile(file('text'), 'x'.repeat(100));
  expect((await textOf(file('text'))).length).toBe(100);
  await using growing = await openRegular(file('text'));
  await appendFile(file('text'), 'x'.repeat(10_000));
  await expect(growing.readAll({ maxBytes: 100 })).rejects.toThrow('found more');
  expect((await growing.readAll({ maxBytes: 20_000 })).length).toBe(10_100);
  expect(await textOf('/proc/version', 10_000)).toBe(await readFile('/proc/version', 'utf8'));
});

test('times are whole, and their nanoseconds are positive before 1970 too', () => {
  expect(wireTime(1_500_000_001n)).toEqual({ seconds: 1n, nanos: 500_000_001 });
  expect(wireTime(-1n)).toEqual({ seconds: -1n, nanos: 999_999_999 });
  expect(wireTime(-2_000_000_000n)).toEqual({ seconds: -2n, nanos: 0 });
});

test('calls that do not return hold up at most four threads; others wait, and are then told which files do not answer', async () => {
  const clock = new FakeClock();
  const turns = new FileTurns(clock);
  let begun = 0;
  const ends: (() => void)[] = [];
  const stuck = (): Promise<void> => {
    begun++;
    return new Promise((resolve) => void ends.push(resolve));
  };
  const running = ['a', 'a', 'b', 'c', 'd'].map((path) => turns.run(path, stuck));
  const refused = expect(turns.run('e', async () => 'e')).rejects.toMatchObject({
    code: 'unavailable',
    message: 'e: expected to be read within 10 s, found that other files do not answer: a, b, d',
  });
  await clock.advance(9_000);
  expect(begun).toBe(4);
  ends[3]?.();
  await running[3];
  await clock.advance(0);
  expect(begun).toBe(5);
  await clock.advance(1_000);
  await refused;
  for (const end of ends) end();
  await Promise.all(running);
  expect(await turns.run('e', async () => 'e')).toBe('e');
});
