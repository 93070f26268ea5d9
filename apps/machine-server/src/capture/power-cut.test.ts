import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { silentLog, systemClock } from '@platform/base';
import { readCaptureFile, readingsInName } from '@platform/capture-file';
import { DataCaptureMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import {
  cutImages,
  FakeClock,
  memoryDirectory,
  RecordingDisk,
  restoreImage,
  rollingSeed,
  seededRandom,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { recoverFile } from '../directories/recover.ts';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { CaptureMemory } from './capture-memory.ts';
import { RollFile } from './roll-file.ts';

/** Number of random sequences of operations, of which two are the same at each run; each is cut about 40 times. */
const sequences = Number(process.env['POWER_CUT_SEQUENCES'] ?? 4);
const rolling = rollingSeed();
const seeds = [1, 2, ...Array.from({ length: Math.max(0, sequences - 2) }, (_, index) => rolling + index)];

interface Recording {
  readonly disk: RecordingDisk;
  readonly produced: number;
  /** Readings 1 to `upTo` were reported durable when this many calls had begun. */
  readonly durable: readonly { readonly calls: number; readonly upTo: number }[];
}

function bytesOf(n: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length).fill(n);
  new DataView(bytes.buffer).setUint32(0, n);
  return bytes;
}

function numberOf(reading: Uint8Array): number {
  const n = new DataView(reading.buffer, reading.byteOffset).getUint32(0);
  expect(Buffer.compare(reading, bytesOf(n, reading.length))).toBe(0);
  return n;
}

/** Random readings, syncs, seals and failures of the disk. */
async function record(random: () => number): Promise<Recording> {
  const disk = new RecordingDisk();
  const clock = new FakeClock();
  const below = (most: number): number => Math.floor(random() * most);
  const series = {
    directory: '/c',
    metadata: create(DataCaptureMetadataSchema, { componentType: 'a:b:c', componentName: 's', methodName: 'm' }),
    ...{ maxFileBytes: 300 + below(2_000), bufferBytes: 1 + below(400), queueSize: 1_000 },
  };
  const context = {
    ...{ storage: disk, ledger: new SeqLedger(), partId: 'p', clock, log: silentLog },
    ...{ memory: new CaptureMemory().share(), lost: () => expect.unreachable() },
  };
  // Less than 100 ms away half the time.
  const nextWriteOutMs = (): number => clock.monotonic() + below(200);
  const file = new RollFile(series, { ...context, wallMicros: () => clock.now() * 1_000, nextWriteOutMs });
  const durable: { calls: number; upTo: number }[] = [];
  let produced = 0;
  const add = (count: number): void => {
    for (let left = count; left > 0; left--) file.add(bytesOf(++produced, 4 + below(120)));
  };
  for (let step = 0; step < 40; step++) {
    const kind = below(10);
    if (kind < 5) {
      add(below(6));
    } else if (kind < 8) {
      await clock.advance(1_000 * 31 ** below(2));
      const upTo = produced;
      const ticked = file.write().then((isWritten) => isWritten && file.sync());
      const sealed = below(2) === 0 ? file.seal() : undefined;
      add(below(4));
      await Promise.resolve();
      add(below(4));
      await sealed;
      if (await ticked) durable.push({ calls: disk.calls.length, upTo });
    } else if (kind === 8) {
      const share = random() / 2;
      disk.fault = (what) => {
        if (random() < share) throw new Error(`the disk failed: ${what}`);
      };
    } else disk.fault = () => {};
  }
  disk.fault = () => {};
  const closing = file.close(60_000);
  let isClosed = false;
  void closing.then(() => (isClosed = true));
  while (!isClosed) await clock.advance(1_000);
  expect(file.isEmpty).toBe(true);
  durable.push({ calls: disk.calls.length, upTo: produced });
  return { disk, produced, durable };
}

/** The readings that a start after the cut has to send. */
async function recovered(directory: string): Promise<number[]> {
  const names = async (): Promise<string[]> =>
    (await readdir(directory, { recursive: true })).map((name) => join(directory, name));
  for (const path of await names()) {
    if (path.endsWith('.tmp')) await rm(path);
    if (path.endsWith('.prog')) await recoverFile(path, directory, { clock: systemClock, log: silentLog });
  }
  const readings: Uint8Array[] = [];
  for (const path of await names()) {
    if (!path.endsWith('.capture') || path.includes('/failed/')) continue;
    const contents = readCaptureFile(await readFile(path), readingsInName(path));
    expect(contents).toMatchObject({ cutBytes: 0, missing: 0 });
    readings.push(...contents.readings);
  }
  return readings.map(numberOf).toSorted((a, b) => a - b);
}

test('C5 C6 C9 after a power cut at any instant, every reading reported durable exists exactly once; none is damaged or invented', {
  timeout: 600_000,
}, async () => {
  let cuts = 0;
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const { disk, produced, durable } = await record(random);
    for (const image of cutImages(disk.calls, { random, randomInstants: 10 })) {
      await using directory = await memoryDirectory();
      await restoreImage(image, '/c', directory.path);
      const found = await recovered(directory.path);
      const upTo = durable.filter(({ calls }) => calls <= image.at).at(-1)?.upTo ?? 0;
      const context = `seed ${seed} (FAULT_SEED=${rolling}), cut at call ${image.at}`;
      expect(new Set(found).size, context).toBe(found.length);
      expect(found.slice(0, upTo), context).toEqual(Array.from({ length: upTo }, (_, index) => index + 1));
      expect(found.at(-1) ?? 0, context).toBeLessThanOrEqual(produced);
      cuts++;
    }
  }
  expect(cuts).toBeGreaterThan(seeds.length * 20);
});
