import { createLog, silentLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createFreeSpace } from './free-space.ts';

test('I13 a full disk is logged once a minute with the space free and needed and what to do; so is the return of space', async () => {
  const clock = new FakeClock();
  const lines: [string, string, unknown][] = [];
  let free = 100 << 20;
  const space = createFreeSpace({
    freeBytes: async () => free,
    freeInodes: async () => 1e6,
    reusableBytes: async () => 0,
    seal() {},
    unsealedBytes: () => 300 << 20,
    clock,
    log: createLog((level, _logger, message, fields) => void lines.push([level, message, fields])),
  });
  for (let second = 0; second < 130; second++) {
    for (let upload = 0; upload < 2; upload++)
      await expect(space.require()).rejects.toMatchObject({ code: 'resource_exhausted' });
    await clock.advance(1_000);
  }
  const told = (refusedUploads: number) => ({ freeBytes: free, neededBytes: 600 << 20, refusedUploads });
  expect(lines.map(([level, , fields]) => [level, fields])).toEqual([
    ['warn', told(1)],
    ['warn', told(121)],
    ['warn', told(241)],
  ]);
  expect(lines[0]?.[1]).toMatch(/free some space/);
  lines.length = 0;
  free = 700 << 20;
  await space.require();
  await space.require();
  expect(lines).toEqual([['info', expect.stringContaining('space on the disk again'), told(260)]]);
});

test('I13 on a full disk the log is sealed, and readings are accepted again into the space that truncation freed in its file', async () => {
  const clock = new FakeClock();
  let [free, reusable, unsealed, seals] = [500 << 20, 0, 30 << 20, 0];
  const space = createFreeSpace({
    freeBytes: async () => free,
    freeInodes: async () => 1e6,
    reusableBytes: async () => reusable,
    unsealedBytes: () => unsealed,
    seal: () => void seals++,
    ...{ clock, log: silentLog },
  });
  const isTaken = async (require: () => Promise<void>): Promise<boolean> => {
    await clock.advance(1_000);
    return require().then(
      () => true,
      () => false,
    );
  };
  const taken = async () => [await isTaken(space.requireForReadings), await isTaken(space.require)];
  expect([await taken(), seals]).toEqual([[false, false], 1]);
  expect([await taken(), seals]).toEqual([[false, false], 1]);
  [reusable, unsealed] = [30 << 20, 0];
  expect([await taken(), seals]).toEqual([[true, false], 1]);
  // Readings accepted now are sealed soon as well, so that space does not run out; a few are not worth a seal.
  await clock.advance(60_000);
  expect([await taken(), seals]).toEqual([[true, false], 1]);
  unsealed = 5 << 20;
  expect([await taken(), seals]).toEqual([[true, false], 2]);
  // Sealing needs free space on the disk itself.
  [free, reusable] = [63 << 20, 1 << 30];
  expect(await taken()).toEqual([false, false]);
  [free, unsealed] = [100 << 20, 51 << 20];
  expect(await taken()).toEqual([false, false]);
  unsealed = 50 << 20;
  expect(await taken()).toEqual([true, false]);
});

test('I13 uploads are refused while too few files can be created, and the answer and the log say inodes', async () => {
  const clock = new FakeClock();
  const lines: [string, unknown][] = [];
  let inodes = 0;
  const space = createFreeSpace({
    freeBytes: async () => 2 ** 40,
    freeInodes: async () => inodes,
    reusableBytes: async () => 0,
    unsealedBytes: () => 0,
    seal() {},
    clock,
    log: createLog((_level, _logger, message, fields) => void lines.push([message, fields])),
  });
  for (const require of [space.require, space.requireForReadings])
    await expect(require()).rejects.toMatchObject({
      code: 'resource_exhausted',
      message:
        'expected at least 256 free inodes on the disk of the data directory, found 0: remove some files; uploads then continue by themselves',
    });
  expect(lines).toEqual([
    [expect.stringContaining('too few free inodes'), { freeInodes: 0, neededInodes: 256, refusedUploads: 1 }],
  ]);
  inodes = 300;
  await clock.advance(1_000);
  await space.require();
  expect(lines).toHaveLength(2);
});
