import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { captureFileBytes } from '@platform/capture-file';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { rollingSeed, seededRandom, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { ReadingEncoder } from '../capture/encode.ts';
import { createSync } from '../testing/create-sync.ts';

/** `CAPTURE_MUTATIONS` asks for more. */
const mutations = Number(process.env['CAPTURE_MUTATIONS'] ?? 1_000);
const readingsOfFile = 12;
const encoder = new ReadingEncoder();

function readingOf(file: number, index: number): Uint8Array {
  const micros = 1_800_000_000_000_000 + index;
  const document = { readings: { file, index, text: 'x'.repeat((file * 7 + index * 13) % 90) } };
  return encoder.encode({ requestedMicros: micros, receivedMicros: micros, document });
}

function fileOf(file: number): Uint8Array {
  const header = create(CaptureFileHeaderSchema, {
    ...{ stream: new Uint8Array(16).fill(5), seq: BigInt(file + 1), partId: 'part' },
    metadata: { componentType: 'core:component:sensor', componentName: `s${file}`, methodName: 'Readings' },
  });
  return captureFileBytes(
    header,
    Array.from({ length: readingsOfFile }, (_, index) => readingOf(file, index)),
  );
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Flips, truncates, extends, inserts, removes, swaps and zeroes, one to three times. */
function mutated(whole: Uint8Array, random: () => number): Uint8Array {
  const below = (most: number): number => Math.floor(random() * most);
  let bytes = Buffer.from(whole);
  for (let times = 1 + below(3); times > 0; times--) {
    const at = below(bytes.length);
    const end = at + 1 + below(random() < 0.5 ? 8 : 600);
    const junk = Buffer.from(Array.from({ length: 1 + below(40) }, () => below(256)));
    const [before, cut, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
    const split = below(after.length + 1);
    const ways = [
      () => Buffer.concat([before, Buffer.from(cut.map((byte) => byte ^ (1 << below(8)))), after]),
      () => before,
      () => Buffer.concat([bytes, junk]),
      () => Buffer.concat([before, junk, cut, after]),
      () => Buffer.concat([before, after]),
      () => Buffer.concat([before, after.subarray(0, split), cut, after.subarray(split)]),
      () => Buffer.concat([before, Buffer.alloc(cut.length), after]),
      () => Buffer.concat([before, cut, cut, after]),
    ];
    bytes = ways[below(ways.length)]?.() ?? bytes;
    if (bytes.length === 0) break;
  }
  return bytes;
}

test('C3 C8 every mutated file has an outcome: nothing is invented, changed or duplicated, every loss is counted, intact files are sent', {
  timeout: 600_000,
}, async () => {
  await using directory = await temporaryDirectory();
  const seed = rollingSeed();
  const random = seededRandom(seed);
  const folder = join(directory.path, 'core_component_sensor');
  await mkdir(folder, { recursive: true });
  const nameOf = (file: number): string => join(folder, `t_05050505_${file + 1}_${readingsOfFile}.capture`);
  const isIntact = (file: number): boolean => file % 20 === 0;
  for (let file = 0; file < mutations; file++) {
    const whole = fileOf(file);
    await writeFile(nameOf(file), isIntact(file) ? whole : mutated(whole, random));
  }
  const { sync, link, gaps } = createSync(directory.path);
  await using _sync = sync;
  await sync.flush();
  const kept = new Map(link.stored.map(({ metadata, readings }) => [metadata.componentName, readings]));
  expect(kept.size, `FAULT_SEED=${seed}`).toBe(link.stored.length);
  for (let file = 0; file < mutations; file++) {
    const readings = kept.get(`s${file}`) ?? [];
    const original = Array.from({ length: readingsOfFile }, (_, index) => hex(readingOf(file, index)));
    const places = readings.map((reading) => original.indexOf(hex(reading)));
    expect(places, `file ${file}`).toEqual([...new Set(places)].filter((at) => at >= 0).toSorted((a, b) => a - b));
    if (isIntact(file)) expect(places).toHaveLength(readingsOfFile);
    const aside = nameOf(file).replace(directory.path, join(directory.path, 'failed'));
    const [whole, damaged] = [existsSync(aside), existsSync(`${aside}.damaged`)];
    expect(existsSync(nameOf(file)), `file ${file}`).toBe(false);
    if (whole) {
      // Its header cannot be read.
      expect(places).toEqual([]);
      expect(await readFile(`${aside}.reason`, 'utf8')).toMatch(/data_loss: .*capture file/);
    } else {
      expect(places.length + (gaps.get(`s${file}`) ?? 0), `file ${file}`).toBe(readingsOfFile);
      expect(damaged || places.length === readingsOfFile, `file ${file}`).toBe(true);
    }
    if (damaged) expect(await readFile(`${aside}.damaged.reason`, 'utf8')).toMatch(/readings are missing/);
  }
  expect(await readdir(folder)).toEqual([]);
});
