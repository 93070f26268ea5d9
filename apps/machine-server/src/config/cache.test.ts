import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { checkAge, readCache, writeCache } from './cache.ts';

test('D8 a cached configuration is fresh, then old from day 45, and refused past its limit with age and file; 0 means no limit', () => {
  const dayMs = 86_400_000;
  const cached = { confirmedMs: 0, path: '/f' };
  const kinds = (limit: number): string[] =>
    [1, 44.9, 45, 60, 60.1].map((days) => checkAge(cached, days * dayMs, limit).kind);
  expect(kinds(60)).toEqual(['fresh', 'fresh', 'old', 'old', 'refused']);
  expect(kinds(0)).toEqual(['fresh', 'fresh', 'old', 'old', 'old']);
  expect(checkAge(cached, 61 * dayMs, 60)).toMatchObject({ message: expect.stringMatching(/\/f .*61 days ago/) });
});

test('a cached configuration that is torn or has a flipped bit anywhere is reported, and the previous one is used', async () => {
  const home = await mkdtemp(join(tmpdir(), 'cache-'));
  try {
    const path = join(home, 'cached.json');
    const config = (revision: string) =>
      create(RobotConfigSchema, { revision, components: [{ name: 'a', attributes: { text: 'é' } }] });
    expect(await readCache(path)).toEqual({ cached: undefined, damage: '' });
    await writeCache(path, config('one'), 1);
    await writeCache(path, config('two'), 2);
    // It was only confirmed, so the previous one stays.
    await writeCache(path, config('two'), 3);
    expect(await readCache(path)).toMatchObject({
      cached: { config: { revision: 'two' }, confirmedMs: 3 },
      damage: '',
    });

    const whole = await readFile(path);
    for (let at = 0; at < whole.length - 1; at++) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(path, bytes);
      const { cached, damage } = await readCache(path);
      if (damage === '') expect(cached).toMatchObject({ config: config('two'), confirmedMs: 3 });
      else
        expect([cached?.config.revision, damage]).toEqual(['one', expect.stringContaining(`${path} cannot be read`)]);
    }
    for (let length = 0; length < whole.length - 1; length += 7) {
      await writeFile(path, whole.subarray(0, length));
      const { cached, damage } = await readCache(path);
      expect([cached?.config.revision, damage]).toEqual(['one', expect.stringContaining(`${path} cannot be read`)]);
    }
    // A damaged one does not become the previous one.
    await writeCache(path, config('three'), 4);
    await writeFile(path, '');
    expect((await readCache(path)).cached?.config.revision).toBe('one');
  } finally {
    await rm(home, { recursive: true });
  }
});
