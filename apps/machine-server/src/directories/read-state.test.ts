/** What a start does with files of an earlier run that the disk does not return at once. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '@platform/base';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Alive, readCrash } from '../gaps/alive.ts';
import { Gaps } from '../gaps/gaps.ts';
import { Directories } from './directories.ts';
import { SeqLedger } from './seq-ledger.ts';

const series = { api: 'core:component:sensor', name: 'temp', method: 'Readings' };

async function startHome() {
  const home = await temporaryDirectory();
  onTestFinished(() => home[Symbol.asyncDispose]());
  const clock = new FakeClock();
  const deps = { ...{ home: home.path, partId: 'p', link: undefined, clock }, ledger: new SeqLedger(), log: silentLog };
  /** Time passes, and the disk has time to answer. */
  const ended = async <T>(running: Promise<T>): Promise<T> => {
    let isOver = false;
    void running.finally(() => (isOver = true));
    while (!isOver) {
      await clock.advance(100);
      await pause(5);
    }
    return running;
  };
  /** Reading a folder fails, as reading a file on a disk that does not work. @param run the start */
  const failing = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const content = await readFile(home.file(name));
    await rm(home.file(name));
    await mkdir(home.file(name));
    const running = run();
    for (let time = 0; time < 5; time++) {
      await clock.advance(100);
      await pause(5);
    }
    await rm(home.file(name), { recursive: true, force: true });
    await writeFile(home.file(name), content);
    return ended(running);
  };
  return { home, deps, ended, failing };
}

test('C10 a list of capture directories that cannot be read at first is not replaced by a shorter one', async () => {
  const { home, deps, failing } = await startHome();
  {
    await using directories = new Directories(deps);
    await directories.own(home.file('old'));
  }
  await using directories = new Directories(deps);
  await failing('capture_directories.json', () => directories.start());
  await directories.own(home.file('new'));
  expect(directories.owned()).toEqual([home.file('old'), home.file('new')]);
  expect(JSON.parse(await readFile(home.file('capture_directories.json'), 'utf8'))).toHaveLength(2);
});

test('C10 a capture directory whose name cannot be remembered is not used until it can be', async () => {
  const { home, deps } = await startHome();
  await using directories = new Directories(deps);
  const obstacle = home.file(`capture_directories.json.${process.pid}.tmp`);
  await mkdir(obstacle);
  expect(await directories.own(home.file('a'))).toBe(false);
  expect(directories.refusal(home.file('a'))).toContain('capture_directories.json');
  await rm(obstacle, { recursive: true });
  expect(await directories.own(home.file('a'))).toBe(true);
  expect(JSON.parse(await readFile(home.file('capture_directories.json'), 'utf8'))).toEqual([home.file('a')]);
});

test('C9 gaps of an earlier run are still reported if their journal cannot be read at first', async () => {
  const { deps, failing } = await startHome();
  {
    await using gaps = new Gaps(deps);
    await gaps.start();
    gaps.add(series, GapReason.MISSED, 7, 1, 2);
  }
  await using gaps = new Gaps(deps);
  await failing('gaps.jsonl', () => gaps.start());
  expect(gaps.waiting()).toMatchObject([{ readings: 7 }]);
});

test('C9 a crash is still reported if its note cannot be read at first', async () => {
  const { home, deps, failing } = await startHome();
  await new Alive(home.path).capturing([{ ...series, hz: 10 }], 1_000_000);
  expect(await failing('capture_alive', () => readCrash(home.path, '', deps))).toMatchObject({ safeUs: 1_000_000 });
});

test('C9 a file that stays unreadable is set aside and logged, and the start goes on', async () => {
  const { home, deps, ended } = await startHome();
  await mkdir(home.file('gaps.jsonl'));
  await using gaps = new Gaps(deps);
  await ended(gaps.start());
  gaps.add(series, GapReason.MISSED, 1, 1, 2);
  await gaps.flush();
  expect(await readdir(home.path)).toEqual(['gaps.jsonl', 'gaps.jsonl.unreadable']);
});
