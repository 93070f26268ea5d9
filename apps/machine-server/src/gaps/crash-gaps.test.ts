import { type FileHandle, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { silentLog, systemClock } from '@platform/base';
import { captureFileBytes } from '@platform/capture-file';
import { DataCaptureMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { ReadingEncoder } from '../capture/encode.ts';
import { recoverFile } from '../directories/recover.ts';
import { until } from '../testing/start-test-server.ts';
import { Alive, readCrash } from './alive.ts';
import { CrashGaps } from './crash-gaps.ts';
import type { Gaps } from './gaps.ts';
import { damagedReadings } from './lost-readings.ts';
import { homeFolder } from './testing/home-folder.ts';

const reading = { clock: systemClock, log: silentLog };
const series = { api: 'core:component:sensor', name: 'temp', method: 'Readings' };

test('a crash loses at most the readings of a second after all had last reached the disk: those due, and a late one', async () => {
  const home = await homeFolder();
  const crashed = new Alive(home);
  await crashed.capturing(
    [
      { ...series, hz: 10 },
      { ...series, name: 'daily', hz: 1 / 86_400 },
    ],
    1_000_000,
  );
  await crashed.mark(5_000_000);
  const crash = await readCrash(home, '', reading);
  expect(crash).toMatchObject({ safeUs: 5_000_000, untilUs: 6_000_000 });
  const told: unknown[] = [];
  const gaps = { add: (...gap: Parameters<Gaps['add']>) => void told.push(gap.slice(1)) };
  new CrashGaps(crash).tell(gaps, 90_000_000);
  new CrashGaps(crash).tell(gaps, 5_250_000);
  // The clock was set back.
  new CrashGaps(crash).tell(gaps, 1);
  expect(told).toEqual([
    [GapReason.CRASH, 11, 5_000_000, 6_000_000],
    [GapReason.CRASH, 1, 5_000_000, 6_000_000],
    [GapReason.CRASH, 4, 5_000_000, 5_250_000],
    [GapReason.CRASH, 1, 5_000_000, 5_250_000],
    [GapReason.CRASH, 11, 5_000_000, 6_000_000],
    [GapReason.CRASH, 1, 5_000_000, 6_000_000],
  ]);
  await crashed[Symbol.asyncDispose]();
  expect(await readCrash(home, '', reading)).toBeUndefined();
});

test('an unreadable file that a crash left open loses the readings since it was opened, up to those of the crash', async () => {
  const capture = await homeFolder();
  const openedUs = Date.parse('2026-11-20T10:15:59.999Z') * 1_000;
  const images = { ...series, name: 'camera', hz: 30, ownFiles: true as const };
  const crash = {
    safeUs: openedUs + 3_000_000,
    untilUs: openedUs + 4_000_000,
    series: [{ ...series, hz: 10 }, images],
  };
  const told: unknown[] = [];
  const gaps = { add: (...gap: Parameters<Gaps['add']>) => void told.push(gap.slice(1)) };
  const crashes = new CrashGaps(crash);
  const onUnreadable = crashes.unreadable.bind(crashes);
  const leftOpen: [string, string, string][] = [
    ['temp', '2026-11-20T10_15_59.999600Z_7f3a9c1e_7.prog', 'not a header'],
    ['temp', '2026-11-20T10_16_00.999600Z_7f3a9c1e_8.prog', ''],
    // Opened after everything had reached the disk; not captured; not one of ours.
    ['temp', '2026-11-20T10_16_03.000000Z_7f3a9c1e_9.prog', ''],
    ['gone', '2026-11-20T10_15_59.999600Z_7f3a9c1e_1.prog', 'not a header'],
    ['temp', 'notes.prog', 'not a header'],
    // A file that can only contain one reading.
    ['camera', '2026-11-20T10_15_59.999600Z_7f3a9c1e_2.prog', 'not a header'],
  ];
  for (const [name, file, content] of leftOpen) {
    const folder = join(capture, 'core_component_sensor', name, 'Readings');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, file), content);
    await recoverFile(join(folder, file), capture, { clock: new FakeClock(), log: silentLog, onUnreadable });
  }
  crashes.tell(gaps, crash.untilUs);
  expect(told).toEqual([
    [GapReason.DAMAGED, 31, openedUs, crash.safeUs],
    [GapReason.DAMAGED, 21, openedUs + 1_000_000, crash.safeUs],
    [GapReason.DAMAGED, 1, openedUs, crash.safeUs],
    [GapReason.CRASH, 11, crash.safeUs, crash.untilUs],
    [GapReason.CRASH, 31, crash.safeUs, crash.untilUs],
  ]);
});

test('readings missing in a file that a crash left open are damage, except those that the crash may have cost', async () => {
  const capture = await homeFolder();
  const openedMs = Date.parse('2026-11-20T10:16:00Z');
  const encoder = new ReadingEncoder();
  const readings = Array.from({ length: 40 }, (_, at) => {
    const us = (openedMs + at * 100) * 1_000;
    return encoder.encode({ requestedMicros: us, receivedMicros: us, document: { at } });
  });
  const { api: componentType, name: componentName, method: methodName } = series;
  const header = create(CaptureFileHeaderSchema, {
    ...{ stream: Buffer.alloc(16, 5), seq: 1n, partId: 'p', created: timestampFromMs(openedMs) },
    metadata: create(DataCaptureMetadataSchema, { componentType, componentName, methodName }),
  });
  const whole = captureFileBytes(header, readings);
  const folder = join(capture, 'core_component_sensor', 'temp', 'Readings');
  await mkdir(folder, { recursive: true });
  const safeUs = (openedMs + 3_000) * 1_000;
  /** @param flipped readings with a flipped bit */
  const reported = async (flipped: readonly number[]): Promise<unknown[]> => {
    const bytes = Buffer.from(whole);
    for (const at of flipped)
      bytes.writeUInt8(1 ^ bytes.readUInt8(bytes.indexOf(readings[at] ?? '')), bytes.indexOf(readings[at] ?? ''));
    const path = join(folder, '2026-11-20T10_16_00.000000Z_7f3a9c1e_7.prog');
    await writeFile(path, bytes);
    const crashes = new CrashGaps({ safeUs, untilUs: safeUs + 1_000_000, series: [{ ...series, hz: 10 }] });
    const told: unknown[] = [];
    await recoverFile(path, capture, {
      ...{ clock: new FakeClock(), log: silentLog, onUnreadable: crashes.unreadable.bind(crashes) },
      onRecovered: (contents) => {
        const lost = damagedReadings(contents, crashes.recovered(contents));
        if (lost !== undefined) told.push([GapReason.DAMAGED, lost.readings, lost.startUs]);
      },
    });
    crashes.tell({ add: (...gap) => void told.push(gap.slice(1, 4)) }, safeUs + 1_000_000);
    return told;
  };
  expect(await reported([])).toEqual([[GapReason.CRASH, 1, safeUs]]);
  expect(await reported([10, 11, 20])).toEqual([
    [GapReason.DAMAGED, 3, openedMs * 1_000],
    [GapReason.CRASH, 1, safeUs],
  ]);
  expect(await reported([3, 35])).toEqual([
    [GapReason.DAMAGED, 1, openedMs * 1_000],
    [GapReason.CRASH, 2, safeUs],
  ]);
  expect(await reported([29, 30, 31])).toEqual([
    [GapReason.DAMAGED, 1, openedMs * 1_000],
    [GapReason.CRASH, 3, safeUs],
  ]);
  expect(await reported(readings.map((_, at) => at))).toEqual([
    [GapReason.DAMAGED, 31, openedMs * 1_000],
    [GapReason.CRASH, 11, safeUs],
  ]);
});

test('a crash while the disk is slow loses the readings that were due until the time noted meanwhile', async () => {
  const home = await homeFolder();
  const crashed = new Alive(home);
  await crashed.capturing([{ ...series, hz: 10 }], 1_000_000);
  await crashed.extend(2_700_000);
  const told: unknown[] = [];
  const gaps = { add: (...gap: Parameters<Gaps['add']>) => void told.push(gap.slice(1)) };
  new CrashGaps(await readCrash(home, '', reading)).tell(gaps, 90_000_000);
  await crashed.mark(2_200_000);
  new CrashGaps(await readCrash(home, '', reading)).tell(gaps, 90_000_000);
  expect(told).toEqual([
    [GapReason.CRASH, 18, 1_000_000, 2_700_000],
    [GapReason.CRASH, 11, 2_200_000, 3_200_000],
  ]);
  await crashed[Symbol.asyncDispose]();
});

test('a reading is taken only at a time that the note on the disk covers, even while a later note is being written or waits', async () => {
  const home = await homeFolder();
  const syncs: (() => void)[] = [];
  const openFile = async (path: string, flags: string): Promise<FileHandle> => {
    const handle = await open(path, flags);
    const datasync = handle.datasync.bind(handle);
    handle.datasync = () => new Promise<void>((resolve) => syncs.push(resolve)).then(datasync);
    return handle;
  };
  const alive = new Alive(home, '', openFile);
  const covered = (...times: number[]): boolean[] => times.map((us) => alive.covers(us));
  expect(covered(1_500_000)).toEqual([false]);
  await alive.capturing([{ ...series, hz: 10 }], 1_000_000);
  expect(covered(999_999, 1_000_000, 2_000_000, 2_000_001)).toEqual([false, true, true, false]);
  const marked = alive.mark(1_800_000);
  await until('the mark to be synced', () => syncs.length === 1);
  expect(covered(1_799_999, 1_800_000, 2_000_000, 2_000_001)).toEqual([false, true, true, false]);
  // Only the last of the waiting notes is written, with the last time that reached the disk.
  const extended = [2_900_000, 3_400_000].map((us) => alive.extend(us));
  syncs.pop()?.();
  await until('the extension to be synced', () => syncs.length === 1);
  expect(covered(2_800_000, 2_800_001)).toEqual([true, false]);
  syncs.pop()?.();
  await Promise.all([marked, ...extended]);
  expect(covered(1_799_999, 1_800_000, 3_400_000, 3_400_001)).toEqual([false, true, true, false]);
  expect(await readCrash(home, '', reading)).toMatchObject({ safeUs: 1_800_000, untilUs: 3_400_000 });
  // The disk is fast again, and notes cover less time.
  const last = [alive.mark(2_000_000), alive.mark(2_100_000)];
  await until('a mark to be synced', () => syncs.length === 1);
  syncs.pop()?.();
  await until('the next mark to be synced', () => syncs.length === 1);
  syncs.pop()?.();
  await Promise.all(last);
  const narrower = alive.mark(2_200_000);
  await until('the narrower mark to be synced', () => syncs.length === 1);
  expect(covered(3_200_000, 3_200_001)).toEqual([true, false]);
  syncs.pop()?.();
  await narrower;
  await alive[Symbol.asyncDispose]();
});

test('if writing a note fails, and is not only late, readings are still taken, until there is a note again', async () => {
  const home = await homeFolder();
  const path = join(home, 'capture_alive');
  const alive = new Alive(home);
  // A folder in its place refuses the note.
  await mkdir(join(path, 'x'), { recursive: true });
  await expect(alive.capturing([{ ...series, hz: 10 }], 1_000_000)).rejects.toThrow();
  expect(alive.covers(9_000_000)).toBe(true);
  await rm(path, { recursive: true });
  await alive.mark(2_000_000);
  expect([alive.covers(3_000_000), alive.covers(9_000_000)]).toEqual([true, false]);
  expect(await readCrash(home, '', reading)).toMatchObject({ safeUs: 2_000_000, series: [{ name: 'temp', hz: 10 }] });
  await alive[Symbol.asyncDispose]();
});

test('after a kill, data written but not synced is not lost; after a power cut it may be', async () => {
  const home = await homeFolder();
  const crashed = new Alive(home, 'first');
  await crashed.capturing([{ ...series, hz: 10 }], 1_000_000);
  await crashed.extend(4_000_000);
  await crashed.written(1_800_000, 2_800_000);
  expect(await readCrash(home, 'first', reading)).toMatchObject({ safeUs: 1_800_000, untilUs: 2_800_000 });
  for (const bootId of ['second', ''])
    expect(await readCrash(home, bootId, reading)).toMatchObject({ safeUs: 1_000_000, untilUs: 4_000_000 });
  // While the disk fails, the synced note stays as it is: before the written one, everything was handed to the operating system.
  await crashed.written(4_900_000, 5_900_000);
  expect(await readCrash(home, 'first', reading)).toMatchObject({ safeUs: 4_900_000, untilUs: 5_900_000 });
  // A note with earlier times, as after a step of the clock, is ignored.
  await crashed.written(100_000, 900_000);
  expect(await readCrash(home, 'first', reading)).toMatchObject({ safeUs: 1_000_000, untilUs: 4_000_000 });
  // An older note covers less than has reached the disk since.
  await crashed.written(1_900_000, 2_900_000);
  await crashed.mark(2_600_000);
  expect(await readCrash(home, 'first', reading)).toMatchObject({ safeUs: 2_600_000, untilUs: 2_900_000 });
  await crashed[Symbol.asyncDispose]();
  expect(await readdir(home)).toEqual([]);
});

test('a reading is taken only at a time that both notes cover: the one for a kill and the one for a power cut', async () => {
  const home = await homeFolder();
  const alive = new Alive(home, 'boot');
  const covered = (...times: number[]): boolean[] => times.map((us) => alive.covers(us));
  await alive.capturing([{ ...series, hz: 10 }], 1_000_000);
  expect(covered(1_500_000)).toEqual([false]);
  await alive.written(1_200_000, 2_200_000);
  expect(covered(1_199_999, 1_200_000, 2_000_000, 2_000_001)).toEqual([false, true, true, false]);
  await alive.mark(1_100_000, 9_000_000);
  expect(covered(2_200_000, 2_200_001)).toEqual([true, false]);
  await alive[Symbol.asyncDispose]();
});
