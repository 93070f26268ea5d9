/** What a series does when steps on the disk fail, each once or for ever, while sync sends and removes what is sealed. */
import { create } from '@bufbuild/protobuf';
import { silentLog } from '@platform/base';
import { readCaptureFile } from '@platform/capture-file';
import { DataCaptureMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { FakeClock, RecordingDisk } from '@platform/testkit';
import { expect, test } from 'vitest';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { CaptureMemory } from './capture-memory.ts';
import { RollFile } from './roll-file.ts';

const steps = ['create', 'write', 'sync', 'read', 'rename', 'sync-name', 'remove'] as const;

function startSeries(queueSize?: number) {
  const disk = new RecordingDisk();
  const clock = new FakeClock();
  const metadata = create(DataCaptureMetadataSchema, { componentType: 'a:b:c', componentName: 's', methodName: 'm' });
  let told = 0;
  const file = new RollFile(
    { directory: '/c', metadata, maxFileBytes: 300, bufferBytes: 64, queueSize },
    {
      ...{ storage: disk, ledger: new SeqLedger(), partId: 'p', memory: new CaptureMemory().share(), clock },
      ...{ wallMicros: () => clock.now() * 1_000, nextWriteOutMs: () => 0, log: silentLog },
      lost: (readings) => (told += readings),
    },
  );
  const sent: number[] = [];
  let taken = 0;
  /** Sends and removes what is sealed, as sync does: also files whose seal reported a failure. */
  const send = async (): Promise<void> => {
    const { fault } = disk;
    disk.fault = () => {};
    for (const [path, bytes] of disk.files) {
      if (!path.endsWith('.capture')) continue;
      sent.push(...readCaptureFile(bytes).readings.map(numberOf));
      await disk.remove(path);
    }
    disk.fault = fault;
  };
  const turn = async (): Promise<void> => {
    for (let count = 0; count < 3; count++) if (file.ready) file.add(bytesOf(++taken));
    await clock.advance(400);
    void file.write().then((isWritten) => isWritten && file.sync());
    if (taken % 4 === 0) void file.seal();
    await clock.advance(400);
    await send();
  };
  const end = async (): Promise<void> => {
    const closing = file.close(60_000);
    for (let second = 0; second < 70; second++) await clock.advance(1_000);
    await closing;
    await send();
    file.giveUp();
  };
  /** Readings that were neither sent nor are left for the next start. */
  const missing = (): number => {
    const left = [...disk.files].filter(([path]) => path.endsWith('.prog'));
    const numbers = left.flatMap(([, bytes]) => intact(bytes).map(numberOf));
    return taken - new Set([...sent, ...numbers]).size;
  };
  return { disk, clock, file, sent, send, turn, end, missing, taken: () => taken, told: () => told };
}

const bytesOf = (number: number): Uint8Array => Uint8Array.of(number >> 8, number & 255);
const numberOf = ([high = 0, low = 0]: Uint8Array): number => high * 256 + low;

function intact(bytes: Uint8Array): readonly Uint8Array[] {
  try {
    return readCaptureFile(bytes).readings;
  } catch {
    // Not even its header was written.
    return [];
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('C5 a file that sync removed after its seal failed in the last step is done, and the capture goes on', async () => {
  const { disk, clock, file, sent, send, end } = startSeries();
  let isFailing = true;
  disk.fault = (step, path) => {
    if (isFailing && step === 'sync-name' && path.endsWith('.capture')) throw new Error('EIO: the directory');
  };
  file.add(bytesOf(1));
  await file.seal();
  expect(file.failures).toBe(1);
  isFailing = false;
  await send();
  expect(sent).toEqual([1]);
  await clock.advance(1_000);
  expect(file.failures).toBe(0);
  expect(file.isEmpty).toBe(true);
  file.add(bytesOf(2));
  await file.seal();
  await end();
  expect(sent).toEqual([1, 2]);
});

test.each(steps)('C5 a %s that fails once, at any time, loses nothing and stores nothing twice', async (failing) => {
  for (let time = 1; time <= 12; time++) {
    const { disk, sent, turn, end, taken, told } = startSeries();
    let count = 0;
    disk.fault = (step) => {
      if (step === failing && ++count === time) throw new Error(`EIO: ${step} ${time}`);
    };
    for (let turns = 0; turns < 20; turns++) await turn();
    await end();
    expect(taken()).toBe(60);
    expect([sent.toSorted((a, b) => a - b), told()], `time ${time}`).toEqual([upTo(60), 0]);
  }
});

test.each(steps)(
  'C5 a %s that fails for ever for one file is left to that file: others are captured, what is lost is told',
  async (failing) => {
    for (let number = 1; number <= 4; number++) {
      const { disk, sent, turn, end, missing, taken, told } = startSeries();
      const paths: string[] = [];
      disk.fault = (step, path) => {
        const name = path.replace(/\.prog.*$|_\d+\.capture$/, '');
        if (!paths.includes(name)) paths.push(name);
        const isIt = paths.indexOf(name) === number - 1;
        // Reading back happens only after a failed sync.
        if (isIt && (step === failing || (failing === 'read' && step === 'sync'))) throw new Error(`EIO: ${step}`);
      };
      for (let turns = 0; turns < 120; turns++) await turn();
      await end();
      expect(taken()).toBe(360);
      expect(new Set(sent).size).toBe(sent.length);
      expect(sent.toSorted((a, b) => a - b).slice(-300)).toEqual(upTo(360).slice(-300));
      expect(missing(), `file ${number}`).toBeLessThanOrEqual(told());
    }
  },
);

test('C5 a file that cannot be read back for its rewrite is given up, with its readings told, once others are sealed', async () => {
  const { disk, file, turn, end, missing, told } = startSeries();
  let first = '';
  let syncs = 0;
  disk.fault = (step, path) => {
    first ||= path.replace('.prog', '');
    if (!path.startsWith(first)) return;
    if (step === 'read' || (step === 'sync' && ++syncs > 1)) throw new Error(`EIO: ${step}`);
  };
  for (let turns = 0; turns < 1_000; turns++) await turn();
  expect(file.failures).toBe(0);
  expect(told()).toBeGreaterThan(0);
  await end();
  expect(missing()).toBeLessThanOrEqual(told());
});

test('C5 readings that cannot be written before the stop are told by their number', async () => {
  const { disk, file, turn, end, missing, told } = startSeries();
  for (let turns = 0; turns < 3; turns++) await turn();
  disk.fault = (step) => {
    if (step === 'write') throw Object.assign(new Error('EIO'), { code: 'EIO' });
  };
  for (let turns = 0; turns < 5; turns++) await turn();
  expect(file.failures).toBeGreaterThan(0);
  await end();
  // A write that failed may have written a part.
  expect(missing()).toBeGreaterThan(10);
  expect(missing()).toBeLessThanOrEqual(told());
  expect(told()).toBe(15);
});

test('C13 on a full disk, the configured number of readings wait, however often the write is repeated', async () => {
  const { disk, clock, sent, turn, end, taken } = startSeries(5);
  await turn();
  let isFull = true;
  disk.fault = (step) => {
    if (isFull && (step === 'write' || step === 'create')) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  };
  for (let turns = 0; turns < 10; turns++) await turn();
  const waiting = taken();
  expect(waiting).toBeLessThanOrEqual(3 + 5 + 3);
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(taken()).toBe(waiting);
  isFull = false;
  await clock.advance(60_000);
  await turn();
  await end();
  expect(sent.toSorted((a, b) => a - b)).toEqual(upTo(taken()));
});

test('C13 readings that waited for the disk are written as one group', async () => {
  const { disk, clock, file, sent, send } = startSeries();
  let isStuck = true;
  const { promise, resolve } = Promise.withResolvers<void>();
  const made = disk.create.bind(disk);
  disk.create = async (path) => {
    if (isStuck) await promise;
    return made(path);
  };
  for (let count = 1; count <= 9; count++) file.add(bytesOf(count));
  isStuck = false;
  resolve();
  await clock.advance(0);
  expect(await file.write()).toBe(true);
  expect(disk.calls.filter(({ kind }) => kind === 'write')).toHaveLength(1);
  await file.seal();
  await send();
  expect(sent).toEqual(upTo(9));
});
