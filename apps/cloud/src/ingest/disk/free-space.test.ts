import { createLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createFreeSpace } from './free-space.ts';

test('I13 a full disk is logged once a minute with the space free and needed and what to do, and again when there is room', async () => {
  const clock = new FakeClock();
  const lines: [string, string, unknown][] = [];
  let free = 100 << 20;
  const space = createFreeSpace({
    freeBytes: async () => free,
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
