import { create } from '@bufbuild/protobuf';
import { concatBytes } from '@platform/base';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CaptureFileWriter, createCaptureFileWriter } from './capture-file-writer.ts';
import { readCaptureFile } from './read-capture-file.ts';
import type { CaptureStorage } from './storage.ts';

const header = create(CaptureFileHeaderSchema, {
  stream: new Uint8Array(16).fill(7),
  seq: 3n,
  partId: 'part',
  metadata: { componentType: 'core:component:sensor', componentName: 'temp', methodName: 'Readings' },
});

/** Files in memory; `faults` makes the next writes fail halfway. */
class MemoryStorage implements CaptureStorage {
  readonly files = new Map<string, Uint8Array>();
  faults = 0;
  syncs = 0;
  readonly journal: string[] = [];

  create(path: string): ReturnType<CaptureStorage['create']> {
    this.files.set(path, new Uint8Array(0));
    return Promise.resolve({
      write: async (bytes, position) => {
        const failed = this.faults > 0;
        if (failed) this.faults--;
        const kept = failed ? bytes.subarray(0, bytes.length >> 1) : bytes;
        const before = this.files.get(path) ?? new Uint8Array(0);
        const after = new Uint8Array(Math.max(before.length, position + kept.length));
        after.set(before);
        after.set(kept, position);
        this.files.set(path, after);
        this.journal.push('write');
        if (failed) throw new Error('disk error');
      },
      sync: async () => {
        this.syncs++;
        this.journal.push('sync');
      },
      close: async () => {
        this.journal.push('close');
      },
    });
  }

  async rename(from: string, to: string): Promise<void> {
    this.journal.push('rename');
    this.files.set(to, this.files.get(from) ?? new Uint8Array(0));
    this.files.delete(from);
  }

  async remove(path: string): Promise<void> {
    this.files.delete(path);
  }
}

async function written(readings: readonly Uint8Array[], bufferBytes = 64): Promise<Uint8Array> {
  const storage = new MemoryStorage();
  const writer = await createCaptureFileWriter({ storage, path: 'f', header, bufferBytes });
  await appendAll(writer, readings);
  await writer.seal();
  expect([...storage.files.keys()]).toEqual(['f.capture']);
  return storage.files.get('f.capture') ?? new Uint8Array(0);
}

async function appendAll(writer: CaptureFileWriter, readings: readonly Uint8Array[]): Promise<void> {
  for (const reading of readings) if (writer.append(reading)) await writer.flush();
}

const reading = fc.uint8Array({ minLength: 1, maxLength: 200 });

test('a file returns the header and readings that were written, whatever the buffer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(reading, { maxLength: 30 }),
      fc.integer({ min: 1, max: 500 }),
      async (readings, buffer) => {
        const contents = readCaptureFile(await written(readings, buffer));
        expect(contents.header).toEqual(header);
        expect(contents.readings.map((bytes) => [...bytes])).toEqual(readings.map((bytes) => [...bytes]));
        expect(contents.cutBytes).toBe(0);
      },
    ),
    { numRuns: 50 },
  );
});

test('C4 a file torn at any byte keeps exactly the complete readings', async () => {
  const readings = [new Uint8Array(20).fill(1), new Uint8Array(1).fill(2), new Uint8Array(130).fill(3)];
  const whole = await written(readings);
  const start = whole.length - readings.reduce((sum, bytes) => sum + bytes.length + 8, 0);
  for (let length = 0; length <= whole.length; length++) {
    const torn = whole.subarray(0, length);
    if (length < start) {
      expect(() => readCaptureFile(torn)).toThrow(/capture file/);
      continue;
    }
    const contents = readCaptureFile(torn);
    let end = start;
    const expected = readings.filter((bytes) => {
      end += bytes.length + 8;
      return end <= length;
    });
    expect(contents.readings).toEqual(expected);
    expect(contents.goodBytes + contents.cutBytes).toBe(length);
  }
});

test('C4 zeros after the last frame, as left by a power failure, are removed', async () => {
  const whole = await written([Uint8Array.of(1, 2, 3)]);
  const contents = readCaptureFile(concatBytes([whole, new Uint8Array(4_096)]));
  expect(contents).toMatchObject({ goodBytes: whole.length, cutBytes: 4_096 });
  expect(contents.readings).toHaveLength(1);
});

test('C3 a flipped byte never yields a reading that was not written', async () => {
  const readings = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5, 6, 7), Uint8Array.of(8)];
  const whole = await written(readings);
  const known = new Set(readings.map(String));
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
      const damaged = whole.slice();
      damaged[at] = (damaged[at] ?? 0) ^ mask;
      let kept: readonly Uint8Array[] = [];
      try {
        kept = readCaptureFile(damaged).readings;
      } catch (caught) {
        expect(String(caught)).toContain('capture file');
      }
      kept.forEach((bytes, index) => {
        expect(known.has(String(bytes))).toBe(true);
        expect(bytes).toEqual(readings[index]);
      });
    }),
    { numRuns: 300 },
  );
});

test('C5 a write that fails halfway is repeated at the same position: no gaps, no duplicates', async () => {
  const storage = new MemoryStorage();
  const writer = await createCaptureFileWriter({ storage, path: 'f', header, bufferBytes: 10_000 });
  const readings = Array.from({ length: 20 }, (_, index) => new Uint8Array(index + 1).fill(index));
  await appendAll(writer, readings.slice(0, 10));
  storage.faults = 2;
  await expect(writer.flush()).rejects.toThrow('disk error');
  await appendAll(writer, readings.slice(10));
  await expect(writer.flush()).rejects.toThrow('disk error');
  await writer.seal();
  expect(readCaptureFile(storage.files.get('f.capture') ?? new Uint8Array(0)).readings).toEqual(readings);
});

test('C6 a file is synced before it gets its sealed name, and after every 256 KiB', async () => {
  const storage = new MemoryStorage();
  const writer = await createCaptureFileWriter({ storage, path: 'f', header });
  await appendAll(
    writer,
    Array.from({ length: 600 }, () => new Uint8Array(1_000)),
  );
  expect(storage.syncs).toBe(2);
  await writer.seal();
  expect(storage.journal.slice(-3)).toEqual(['sync', 'close', 'rename']);
});
