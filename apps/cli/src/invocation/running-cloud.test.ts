import { readFile, writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readRunningCloud, recordRunningCloud } from './running-cloud.ts';

test('the running cloud that started last is found, and none after it has ended', async () => {
  await using home = await temporaryDirectory();
  expect(await readRunningCloud(home.path)).toBe(undefined);
  const first = await recordRunningCloud(home.path, { url: 'http://127.0.0.1:1', dataDir: '/one' });
  const second = await recordRunningCloud(home.path, { url: 'https://127.0.0.1:2', ca: 'PEM', dataDir: '/two' });
  await first[Symbol.asyncDispose]();
  expect(await readRunningCloud(home.path)).toEqual({ url: 'https://127.0.0.1:2', ca: 'PEM', dataDir: '/two' });
  await second[Symbol.asyncDispose]();
  expect(await readRunningCloud(home.path)).toBe(undefined);
});

test('a record of a killed process, or an unreadable one, counts as missing', async () => {
  await using home = await temporaryDirectory();
  await using _ = await recordRunningCloud(home.path, { url: 'http://127.0.0.1:1', dataDir: '/one' });
  const file = home.file('running-cloud.json');
  const record = JSON.parse(await readFile(file, 'utf8'));
  // Above any process id of Linux.
  await writeFile(file, JSON.stringify({ ...record, processId: 2 ** 22 + 1 }));
  expect(await readRunningCloud(home.path)).toBe(undefined);
  await writeFile(file, '{"url":');
  expect(await readRunningCloud(home.path)).toBe(undefined);
});
