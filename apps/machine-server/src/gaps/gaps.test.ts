import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError, silentLog } from '@platform/base';
import { GapReason, type ReportGapsRequest } from '@platform/proto/platform/gaps/v1/gaps';
import type { Link } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { until } from '../testing/start-test-server.ts';
import { Gaps } from './gaps.ts';
import { homeFolder } from './testing/home-folder.ts';

const series = { api: 'core:component:sensor', name: 'temp', method: 'Readings' };

function fakeLink(answer: (request: ReportGapsRequest) => void): Link {
  return { client: () => ({ reportGaps: async (request: ReportGapsRequest) => answer(request) }) } as unknown as Link;
}

/** With a cloud that takes every report. */
async function withCloud() {
  const home = await homeFolder();
  const clock = new FakeClock();
  const told: ReportGapsRequest[] = [];
  const deps = { home, partId: 'p', clock, log: silentLog, link: fakeLink((request) => told.push(request)) };
  return { deps, told, clock, journal: () => readFile(join(home, 'gaps.jsonl'), 'utf8') };
}

test('missing readings of one series and reason are one gap, until none is missing for a minute', async () => {
  const clock = new FakeClock();
  await using gaps = new Gaps({ home: await homeFolder(), partId: 'p', link: undefined, clock, log: silentLog });
  await gaps.start();
  gaps.add(series, GapReason.MISSED, 1, 100, 100);
  await clock.advance(59_000);
  gaps.add(series, GapReason.MISSED, 2, 200, 300);
  gaps.add(series, GapReason.FAILED, 1, 300, 300);
  await clock.advance(61_000);
  gaps.add(series, GapReason.MISSED, 4, 900, 900);
  expect(gaps.waiting().map(({ reason, readings, startUs, endUs }) => [reason, readings, startUs, endUs])).toEqual([
    [GapReason.MISSED, 3, 100, 300],
    [GapReason.FAILED, 1, 300, 300],
    [GapReason.MISSED, 4, 900, 900],
  ]);
});

test('after a write that the disk cut short, the journal is rewritten: a torn line swallows none of the following lines', async () => {
  const home = await homeFolder();
  const path = join(home, 'gaps.jsonl');
  const deps = { home, partId: 'p', clock: new FakeClock(), log: silentLog, link: undefined };
  {
    await using gaps = new Gaps(deps);
    await gaps.start();
    gaps.add(series, GapReason.MISSED, 1, 1, 2);
    await gaps.flush();
    const whole = await readFile(path, 'utf8');
    // A folder in its place refuses the write; after that, half a line is there.
    await rm(path);
    await mkdir(path);
    gaps.add(series, GapReason.FAILED, 2, 3, 4);
    await gaps.flush();
    await rm(path, { recursive: true });
    await writeFile(path, `${whole}{"id":"torn`);
    gaps.add(series, GapReason.CRASH, 3, 5, 6);
  }
  await using after = new Gaps(deps);
  await after.start();
  expect(after.waiting().map(({ readings }) => readings)).toEqual([1, 2, 3]);
});

test('C6 a gap that could not be written is written again within a second, and until then a crash must report it', async () => {
  const home = await homeFolder();
  const path = join(home, 'gaps.jsonl');
  const clock = new FakeClock();
  await using gaps = new Gaps({ home, partId: 'p', clock, log: silentLog, link: undefined });
  await gaps.start();
  gaps.add(series, GapReason.MISSED, 1, 1, 2);
  expect(gaps.unwrittenUs).toBeUndefined();
  await gaps.flush();
  // A folder in its place refuses the write.
  await rm(path);
  await mkdir(path);
  gaps.add(series, GapReason.MISSED, 1, 3, 4);
  gaps.add(series, GapReason.CRASH, 3, 5, 6);
  gaps.add(series, GapReason.FAILED, 1, 7, 8);
  await gaps.flush();
  // Of the first one, only growth is unwritten.
  expect(gaps.unwrittenUs).toBe(5);
  await rm(path, { recursive: true });
  await clock.advance(1_000);
  await expect.poll(() => gaps.unwrittenUs).toBeUndefined();
  expect((await readFile(path, 'utf8')).trim().split('\n')).toHaveLength(3);
});

test('gaps survive a restart and a torn last line, and are reported until the cloud has the last count of each', async () => {
  const home = await homeFolder();
  const clock = new FakeClock();
  const deps = { home, partId: 'p', clock, log: silentLog };
  {
    await using before = new Gaps({ ...deps, link: undefined });
    await before.start();
    before.add(series, GapReason.CRASH, 5, 1, 2);
    await before.flush();
    before.add(series, GapReason.CRASH, 5, 1, 3);
  }
  await appendFile(join(home, 'gaps.jsonl'), '{"id":"torn');
  const told: ReportGapsRequest[] = [];
  let isDown = true;
  const link = fakeLink((request) => {
    if (isDown) throw new PlatformError('unavailable', 'no network');
    told.push(request);
  });
  await using gaps = new Gaps({ ...deps, link });
  await gaps.start();
  await clock.advance(3_000);
  gaps.add(series, GapReason.FAILED, 1, 7, 7);
  isDown = false;
  await until('the gaps told', async () => {
    await clock.advance(1_000);
    return told.length > 0;
  });
  expect(told.flatMap((request) => request.gaps.map(({ reason, readings }) => [reason, Number(readings)]))).toEqual([
    [GapReason.CRASH, 10],
    [GapReason.FAILED, 1],
  ]);
  await until('only the open gap left', async () => {
    await clock.advance(1_000);
    return gaps.waiting().every(({ reason }) => reason === GapReason.FAILED);
  });
  await until('nothing left', async () => {
    await clock.advance(30_000);
    return gaps.waiting().length === 0;
  });
  expect(told).toHaveLength(1);
});

test('a closed gap that the cloud has is not reported again by a later start', async () => {
  const { deps, told, clock, journal } = await withCloud();
  {
    await using gaps = new Gaps(deps);
    await gaps.start();
    gaps.add(series, GapReason.MISSED, 1, 1, 1);
    await until('nothing left', async () => {
      await clock.advance(30_000);
      return gaps.waiting().length === 0;
    });
  }
  expect(await journal()).toBe('');
  expect(told).toHaveLength(1);
});

test('C5 what is missing shortly before a regular stop is told by the stop, and not again by the next start', async () => {
  const { deps, told, journal } = await withCloud();
  {
    await using gaps = new Gaps(deps);
    await gaps.start();
    gaps.add(series, GapReason.FAILED, 1, 1, 1);
  }
  expect(told.flatMap((request) => request.gaps.map(({ readings }) => Number(readings)))).toEqual([1]);
  expect(await journal()).toBe('');
});

test('a stop waits two seconds for a cloud that does not answer; the next start tells it what is missing', async () => {
  const home = await homeFolder();
  const clock = new FakeClock();
  const hangs = Promise.withResolvers<void>();
  const link = {
    client: () => ({
      reportGaps: async (_: ReportGapsRequest, { signal }: { signal: AbortSignal }) => {
        hangs.resolve();
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new PlatformError('canceled', 'the stop')));
        });
      },
    }),
  } as unknown as Link;
  const gaps = new Gaps({ home, partId: 'p', clock, log: silentLog, link });
  await gaps.start();
  gaps.add(series, GapReason.FAILED, 1, 1, 1);
  const stopped = gaps[Symbol.asyncDispose]();
  await hangs.promise;
  await clock.advance(2_000);
  await stopped;
  await using after = new Gaps({ home, partId: 'p', clock, log: silentLog, link: undefined });
  await after.start();
  expect(after.waiting()).toMatchObject([{ readings: 1 }]);
});
