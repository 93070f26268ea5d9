import { create } from '@bufbuild/protobuf';
import { concatBytes } from '@platform/base';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { type DiskStep, RecordingDisk } from '@platform/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CaptureFileWriter, createCaptureFileWriter } from './capture-file-writer.ts';
import { recordBytes } from './format.ts';
import { readCaptureFile } from './read-capture-file.ts';
import { captureFileBytes } from './write-capture-file.ts';

const header = create(CaptureFileHeaderSchema, {
  stream: new Uint8Array(16).fill(7),
  seq: 3n,
  partId: 'part',
  metadata: { componentType: 'core:component:sensor', componentName: 'temp', methodName: 'Readings' },
});

async function written(readings: readonly Uint8Array[], bufferBytes = 64): Promise<Uint8Array> {
  const storage = new RecordingDisk();
  const writer = await createCaptureFileWriter({ storage, path: 'f', header, bufferBytes });
  await appendAll(writer, readings);
  await writer.seal();
  expect([...storage.files.keys()]).toEqual([`f_${readings.length}.capture`]);
  return storage.files.get(`f_${readings.length}.capture`) ?? new Uint8Array(0);
}

async function appendAll(writer: CaptureFileWriter, readings: readonly Uint8Array[]): Promise<void> {
  for (const reading of readings) if (writer.append(reading)) await writer.flush();
}

/** Fails the next `times` steps of a kind. */
function failing(storage: RecordingDisk, kind: DiskStep, times: number, code = 'EIO'): void {
  let left = times;
  storage.fault = (step) => {
    if (step === kind && left-- > 0) throw Object.assign(new Error(`the disk failed: ${step}`), { code });
  };
}

const reading = fc.uint8Array({ minLength: 1, maxLength: 200 });

test('a file returns the header and readings that were written, whatever the buffer size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(reading, { maxLength: 30 }),
      fc.integer({ min: 1, max: 500 }),
      async (readings, buffer) => {
        const bytes = await written(readings, buffer);
        const contents = readCaptureFile(bytes, readings.length);
        expect(contents.header).toEqual(header);
        expect(contents.readings.map((each) => [...each])).toEqual(readings.map((each) => [...each]));
        expect(contents).toMatchObject({ kind: 'own', cutBytes: 0, missing: 0, goodBytes: bytes.length });
        expect(captureFileBytes(header, readings)).toEqual(bytes);
      },
    ),
    { numRuns: 50 },
  );
});

test('C4 a file torn at any byte keeps exactly the complete readings, and its name reveals how many are missing', async () => {
  const readings = [new Uint8Array(20).fill(1), new Uint8Array(1).fill(2), new Uint8Array(130).fill(3)];
  const whole = await written(readings);
  const start = whole.length - readings.reduce((sum, bytes) => sum + recordBytes(bytes.length), 0);
  for (let length = 0; length <= whole.length; length++) {
    const torn = whole.subarray(0, length);
    if (length < start) {
      expect(() => readCaptureFile(torn)).toThrow(/capture file/);
      continue;
    }
    const contents = readCaptureFile(torn, readings.length);
    let end = start;
    const expected = readings.filter((bytes) => {
      end += recordBytes(bytes.length);
      return end <= length;
    });
    expect(contents.readings).toEqual(expected);
    expect(contents.goodBytes + contents.cutBytes).toBe(length);
    expect(contents.missing).toBe(readings.length - expected.length);
  }
});

test('C4 zeros after the last record, as left by a power failure, are removed', async () => {
  const whole = await written([Uint8Array.of(1, 2, 3)]);
  const contents = readCaptureFile(concatBytes([whole, new Uint8Array(4_096)]));
  expect(contents).toMatchObject({ goodBytes: whole.length, cutBytes: 4_096 });
  expect(contents.readings).toHaveLength(1);
});

test('C3 damage costs only the records that it touches: later records are found again, and missing ones are counted', async () => {
  const readings = Array.from({ length: 20 }, (_, index) => new Uint8Array(30 + index).fill(index + 1));
  const whole = await written(readings);
  const starts: number[] = [];
  let at = whole.length;
  for (const each of readings.toReversed()) {
    at -= recordBytes(each.length);
    starts.unshift(at);
  }
  const damaged = whole.slice();
  damaged.fill(0, starts[5], (starts[7] ?? 0) + 3);
  const contents = readCaptureFile(damaged, 20);
  expect(contents.readings).toEqual(readings.filter((_, index) => index < 5 || index > 7));
  expect(contents).toMatchObject({ missing: 3, goodBytes: starts[5], cutBytes: (starts[8] ?? 0) - (starts[5] ?? 0) });
  // Records that were moved or repeated are put in order, and none is read twice.
  const part = (from: number, to: number): Uint8Array => whole.subarray(starts[from], starts[to]);
  const mixed = concatBytes([
    whole.subarray(0, starts[3]),
    part(9, 12),
    part(3, 9),
    part(2, 5),
    whole.subarray(starts[12]),
  ]);
  expect(readCaptureFile(mixed)).toMatchObject({ readings, missing: 0 });
  // A record is valid only in its own file.
  const other = captureFileBytes({ ...header, seq: 4n }, readings);
  expect(readCaptureFile(concatBytes([whole, other])).readings).toEqual(readings);
});

test('C3 a flipped byte never yields a reading that was not written', async () => {
  const readings = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5, 6, 7), Uint8Array.of(8)];
  const whole = await written(readings);
  const known = new Set(readings.map(String));
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
      const damaged = whole.slice();
      damaged[at] = (damaged[at] ?? 0) ^ mask;
      try {
        const { readings: kept, missing } = readCaptureFile(damaged, readings.length);
        for (const bytes of kept) expect(known.has(String(bytes))).toBe(true);
        expect(kept.length + missing).toBe(readings.length);
      } catch (caught) {
        expect(String(caught)).toContain('capture file');
      }
    }),
    { numRuns: 500 },
  );
});

test('C5 a write that a full disk cuts short is repeated at the same position: no gaps, no duplicates', async () => {
  const storage = new RecordingDisk();
  const writer = await createCaptureFileWriter({ storage, path: 'f', header, bufferBytes: 10_000 });
  const readings = Array.from({ length: 20 }, (_, index) => new Uint8Array(index + 1).fill(index));
  await appendAll(writer, readings.slice(0, 10));
  failing(storage, 'write', 2, 'ENOSPC');
  await expect(writer.flush()).rejects.toThrow('the disk failed');
  await appendAll(writer, readings.slice(10));
  await expect(writer.flush()).rejects.toThrow('the disk failed');
  await writer.seal();
  expect(readCaptureFile(storage.files.get('f_20.capture') ?? new Uint8Array(0)).readings).toEqual(readings);
});

test('C5 after another failure of a write, the same file is never written again: a new one takes its name', async () => {
  const storage = new RecordingDisk();
  const writer = await createCaptureFileWriter({ storage, path: 'f', header, bufferBytes: 10_000 });
  const readings = Array.from({ length: 20 }, (_, index) => new Uint8Array(index + 1).fill(index));
  await appendAll(writer, readings.slice(0, 10));
  failing(storage, 'write', 1);
  await expect(writer.flush()).rejects.toThrow('the disk failed');
  await appendAll(writer, readings.slice(10));
  const calls = storage.calls.length;
  await writer.flush();
  expect(storage.calls).toHaveLength(calls);
  expect([writer.isSuspect, writer.endangered]).toEqual([true, 20]);
  await writer.seal();
  expect(storage.calls[calls]).toMatchObject({ kind: 'create', path: 'f.prog.tmp' });
  expect(readCaptureFile(storage.files.get('f_20.capture') ?? new Uint8Array(0)).readings).toEqual(readings);
});

test('C5 after a failed sync the same file is never synced again: it is copied to a new one that takes its name', async () => {
  for (const step of ['sync', 'sync-name', 'rename'] as const) {
    const storage = new RecordingDisk();
    const writer = await createCaptureFileWriter({ storage, path: 'd/f', header, bufferBytes: 50 });
    const readings = Array.from({ length: 12 }, (_, index) => new Uint8Array(20).fill(index));
    await appendAll(writer, readings.slice(0, 4));
    if (step !== 'sync-name') await writer.sync();
    await appendAll(writer, readings.slice(4, 8));
    failing(storage, step, 2);
    const attempt = (): Promise<void> => (step === 'rename' ? writer.seal() : writer.sync());
    await expect(attempt()).rejects.toThrow('the disk failed');
    const calls = storage.calls.length;
    if (step !== 'rename') await appendAll(writer, readings.slice(8, 9)).catch(() => {});
    await attempt().catch(() => {});
    await attempt();
    const created = storage.calls.slice(calls).filter(({ kind }) => kind === 'create');
    expect(created.length).toBeGreaterThan(0);
    if (step !== 'rename') await appendAll(writer, readings.slice(9));
    await writer.seal();
    const kept = step === 'rename' ? 8 : 12;
    expect([...storage.files.keys()]).toEqual([`d/f_${kept}.capture`]);
    const { readings: found } = readCaptureFile(storage.files.get(`d/f_${kept}.capture`) ?? new Uint8Array(), kept);
    expect(found).toEqual(readings.slice(0, kept));
  }
});

test('C6 a file is synced before it gets its sealed name', async () => {
  const storage = new RecordingDisk();
  const writer = await createCaptureFileWriter({ storage, path: 'd/f', header });
  await appendAll(
    writer,
    Array.from({ length: 600 }, () => new Uint8Array(1_000)),
  );
  await writer.seal();
  expect(storage.calls.slice(-3)).toMatchObject([
    { kind: 'sync', path: 'd/f.prog' },
    { kind: 'rename', path: 'd/f.prog', to: 'd/f_600.capture' },
    { kind: 'sync', path: 'd' },
  ]);
});

test('C5 C6 data flushed during a sync is written concurrently, and a later sync covers it even if the first one fails', async () => {
  for (const isFailing of [false, true]) {
    const storage = new RecordingDisk();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const create = storage.create.bind(storage);
    let syncs = 0;
    storage.create = async (path) => {
      const output = await create(path);
      const sync = async (): Promise<void> => {
        if (syncs++ === 0) await released;
        if (isFailing && syncs === 1) throw new Error('the disk failed');
        await output.sync();
      };
      return { ...output, sync };
    };
    const writer = await createCaptureFileWriter({ storage, path: 'f', header, bufferBytes: 1 });
    const readings = Array.from({ length: 6 }, (_, index) => new Uint8Array(20).fill(index));
    await appendAll(writer, readings.slice(0, 2));
    const syncing = writer.sync();
    await appendAll(writer, readings.slice(2, 4));
    const { readings: written } = readCaptureFile(storage.files.get('f.prog') ?? new Uint8Array());
    expect(written).toEqual(readings.slice(0, 4));
    release();
    if (isFailing) await expect(syncing).rejects.toThrow('the disk failed');
    else await syncing;
    expect(writer.unsyncedBytes > 0).toBe(true);
    await appendAll(writer, readings.slice(4, 5));
    expect(writer.unwritten).toBe(isFailing ? 1 : 0);
    await writer.sync();
    expect([writer.unwritten, writer.unsyncedBytes]).toEqual([0, 0]);
    await appendAll(writer, readings.slice(5));
    await writer.seal();
    expect(readCaptureFile(storage.files.get('f_6.capture') ?? new Uint8Array(0), 6).readings).toEqual(readings);
  }
});
