import { create } from '@bufbuild/protobuf';
import { type Clock, silentLog, systemClock } from '@platform/base';
import { readCaptureFile } from '@platform/capture-file';
import { DataCaptureMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { FakeClock, RecordingDisk } from '@platform/testkit';
import { expect, test } from 'vitest';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { until } from '../testing/start-test-server.ts';
import { CaptureMemory } from './capture-memory.ts';
import { RollFile } from './roll-file.ts';

const series = {
  directory: '/c',
  metadata: create(DataCaptureMetadataSchema, {
    componentType: 'core:component:sensor',
    componentName: 's',
    methodName: 'Readings',
  }),
  maxFileBytes: 600,
  bufferBytes: 64,
  queueSize: 20,
};

const contextOf = (storage: RecordingDisk, clock: Clock = systemClock) => ({
  ...{ storage, ledger: new SeqLedger(), partId: 'p', clock, log: silentLog },
  ...{ memory: new CaptureMemory().share(), nextWriteOutMs: () => 0, lost: () => {} },
});

async function closed(file: RollFile): Promise<void> {
  await file.close(60_000);
  expect(file.isEmpty).toBe(true);
}

const seqOf = (path: string): number => Number(/_(\d+)_\d+\.capture$/.exec(path)?.[1]);

test('C5 C7 a failing disk does not end a capture: the queue fills, readings are skipped, and accepted ones are written once', async () => {
  const storage = new RecordingDisk();
  const breakDisk = (isBroken: boolean): void => {
    storage.fault = () => {
      if (isBroken) throw new Error('ENOSPC: no space left');
    };
  };
  const ledger = new SeqLedger();
  const context = { ...contextOf(storage), ledger, wallMicros: () => Date.now() * 1_000 };
  const file = new RollFile(series, context);
  let taken = 0;
  const take = (): boolean => {
    if (!file.ready) return false;
    file.add(Uint8Array.of(1, 2, 3, 4, ++taken));
    return true;
  };
  for (let i = 0; i < 15; i++) take();
  await until('written', () => storage.files.size > 0);
  breakDisk(true);
  await until('a full queue', () => !take());
  await until('a failure', () => file.failures > 0);
  breakDisk(false);
  await until('room again', () => file.ready);
  for (let i = 0; i < 200; i++) {
    take();
    if (i % 5 === 0) await systemClock.sleep(1);
  }
  await closed(file);
  const { files } = storage;
  const paths = [...files.keys()].toSorted((a, b) => seqOf(a) - seqOf(b));
  expect(paths.every((path) => path.endsWith('.capture'))).toBe(true);
  const readings = paths.flatMap((path) =>
    readCaptureFile(files.get(path) ?? new Uint8Array(0)).readings.map((bytes) => bytes[4]),
  );
  expect(readings).toEqual(Array.from({ length: taken }, (_, index) => (index + 1) % 256));
  for (const path of paths) expect(files.get(path)?.length).toBeLessThanOrEqual(600);
});

test('C1 no file replaces another if the clock jumps years, stands still or shows the same time at two starts', async () => {
  const storage = new RecordingDisk();
  const clock = new FakeClock(Date.UTC(1970, 0, 1));
  const years = [1970, 2026, 1999, 2262, 2026, 1970, 9_999];
  let taken = 0;
  for (let start = 0; start < 3; start++) {
    const file = new RollFile(series, { ...contextOf(storage, clock), wallMicros: () => clock.now() * 1_000 });
    for (const year of years) {
      clock.setWall(Date.UTC(year, 0, 1));
      for (let count = 0; count < 3; count++) file.add(Uint8Array.of(1, ++taken));
      await file.seal();
    }
    await closed(file);
  }
  const readings = [...storage.files].flatMap(([path, bytes]) => {
    expect(path).toMatch(/\/\d{4}-01-01T00_00_00\.000000Z_[\da-f]{8}_\d+_3\.capture$/);
    return readCaptureFile(bytes).readings.map((each) => each[1] ?? 0);
  });
  expect(storage.files.size).toBe(3 * years.length);
  expect(readings.toSorted((a, b) => a - b)).toEqual(Array.from({ length: taken }, (_, index) => index + 1));
});

/** A disk whose syncs wait until they are released. */
function slowSyncs(): { storage: RecordingDisk; release: () => void; syncs: () => number } {
  const storage = new RecordingDisk();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let begun = 0;
  const create = storage.create.bind(storage);
  storage.create = async (path) => {
    const output = await create(path);
    const sync = async (): Promise<void> => {
      begun++;
      await released;
      await output.sync();
    };
    return { ...output, sync };
  };
  return { storage, release, syncs: () => begun };
}

const readingsOf = (storage: RecordingDisk): number[] =>
  [...storage.files.values()].flatMap((bytes) => readCaptureFile(bytes).readings.map((each) => each[0] ?? 0));

test('C6 readings that arrive during a slow sync or seal are still written, to the open file and to the next one', async () => {
  const { storage, release, syncs } = slowSyncs();
  const context = contextOf(storage);
  const file = new RollFile({ ...series, bufferBytes: 4_096 }, { ...context, wallMicros: () => 1_000 });
  let taken = 0;
  const addWritten = async (): Promise<void> => {
    file.add(Uint8Array.of(++taken));
    expect(await file.write()).toBe(true);
    expect(file.unwrittenUs).toBeUndefined();
    expect(readingsOf(storage)).toEqual(Array.from({ length: taken }, (_, index) => index + 1));
  };
  await addWritten();
  const synced = file.sync();
  await until('a sync that waits', () => syncs() === 1);
  await addWritten();
  const sealed = file.seal();
  await addWritten();
  await addWritten();
  // The last sync is of the third file.
  const last = [file.seal(), file.write(), file.sync()];
  await addWritten();
  release();
  await Promise.all([synced, sealed, ...last]);
  await closed(file);
  expect(readingsOf(storage).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
  expect([...storage.files.keys()].every((path) => path.endsWith('.capture'))).toBe(true);
});

test('C6 a full buffer waits for a write-out that comes soon, until it is twice as long', async () => {
  const storage = new RecordingDisk();
  const clock = new FakeClock();
  let nextWriteOutMs = 400;
  const roll = { ...contextOf(storage, clock), wallMicros: () => 1_000, nextWriteOutMs: () => nextWriteOutMs };
  const file = new RollFile({ ...series, maxFileBytes: 10_000, bufferBytes: 1_000 }, roll);
  file.add(new Uint8Array(1));
  await file.write();
  const writes = (): number => storage.calls.filter(({ kind }) => kind === 'write').length;
  const addFull = async (bytes = 1_000): Promise<void> => {
    file.add(new Uint8Array(bytes).fill(1));
    await clock.advance(0);
  };
  const before = writes();
  await clock.advance(299);
  await addFull();
  expect([writes() - before, file.queued]).toEqual([1, 0]);
  await clock.advance(1);
  await addFull();
  expect([writes() - before, file.queued]).toEqual([1, 1]);
  await addFull(900);
  expect([writes() - before, file.queued]).toEqual([1, 2]);
  await addFull(100);
  expect([writes() - before, file.queued]).toEqual([2, 0]);
  await addFull();
  expect(await file.write()).toBe(true);
  expect([writes() - before, file.queued]).toEqual([3, 0]);
  // The write-out is late.
  await clock.advance(101);
  await addFull();
  expect([writes() - before, file.queued]).toEqual([4, 0]);
  nextWriteOutMs += 400;
  await clock.advance(350);
  await addFull();
  expect(file.queued).toBe(1);
  await closed(file);
});

test('C6 while files wait to be sealed, the oldest reading that a kill would cost is known, and all are finally written', async () => {
  const { storage, release } = slowSyncs();
  const context = contextOf(storage);
  let nowUs = 0;
  const file = new RollFile({ ...series, maxFileBytes: 1 }, { ...context, wallMicros: () => nowUs });
  // Each has its own file; four may wait, and one more is open.
  for (let taken = 1; taken <= 8; taken++) {
    nowUs = taken * 1_000;
    file.add(Uint8Array.of(taken));
    expect(await file.write()).toBe(taken <= 5);
  }
  expect([file.unwrittenUs, file.failures]).toEqual([6_000, 0]);
  expect(readingsOf(storage)).toEqual([1, 2, 3, 4, 5]);
  release();
  await until('all written', () => file.unwrittenUs === undefined);
  await closed(file);
  expect(readingsOf(storage)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('C6 a file is synced after every 256 KiB written, and before it is sealed', async () => {
  const storage = new RecordingDisk();
  const context = contextOf(storage);
  const file = new RollFile(
    { ...series, maxFileBytes: 1e6, queueSize: 1_000 },
    { ...context, wallMicros: () => 1_000 },
  );
  const syncs = (): number =>
    storage.calls.filter(({ kind, path }) => kind === 'sync' && path.endsWith('.prog')).length;
  for (let count = 0; count < 600; count++) {
    file.add(new Uint8Array(1_000));
    if (count % 10 === 0) await file.write();
  }
  await file.write();
  await until('two syncs', () => syncs() === 2);
  await file.seal();
  expect(syncs()).toBe(3);
});
