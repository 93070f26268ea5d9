/** Capture files damaged while the server was down: nothing is invented, duplicated or reordered, and missing readings are reported. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { captureFileBytes, sealedName } from '@platform/capture-file';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import {
  faultProgress,
  Ledger,
  type LedgerReading,
  memoryDirectory,
  reportFault,
  rollingSeed,
  seededRandom,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { ReadingEncoder } from '../../capture/encode.ts';
import { MemoryCloud } from './memory-cloud.ts';
import { mutate } from './mutate.ts';
import { syncAll } from './sync-all.ts';

const mutations = Number(process.env['FAULT_MUTATIONS'] ?? 500);
const seed = rollingSeed();
const inOneFolder = 250;
const readingsEach = 12;
const wallUs = Date.UTC(2026, 0, 1) * 1_000;

interface Damaged {
  readonly component: string;
  readonly readings: readonly LedgerReading[];
  /** Readings that end before the first changed byte. */
  readonly untouched: number;
  readonly isOpen: boolean;
  readonly mutation: string;
}

test(`C2 C3 C4 C8 ${mutations} damaged capture files: what is intact is stored once, and produced is stored and reported as a gap`, async () => {
  const random = seededRandom(seed);
  const sum = { files: 0, produced: 0, stored: 0, reported: { damaged: 0, crash: 0 }, setAside: 0 };
  const faults: object[] = [];
  for (let done = 0; done < mutations; done += inOneFolder) {
    await using home = await memoryDirectory();
    const damaged = await writeDamaged(home.path, Math.min(inOneFolder, mutations - done), random);
    const cloud = new MemoryCloud();
    await syncAll(home.path, cloud);
    const aside = await readdir(join(home.path, 'capture', 'failed'), { recursive: true }).catch(() => []);
    for (const file of damaged) {
      const stored = cloud.readings().filter(({ component }) => component === file.component);
      const [damage, crash] = [GapReason.DAMAGED, GapReason.CRASH].map((reason) =>
        reportedBy(cloud, file.component, reason),
      ) as [number, number];
      const isAside = aside.some((name) => name.includes(`/${file.component}/`) && /\.(capture|prog)$/.test(name));
      const fault = faultOf(file, stored, { damage, crash, isAside });
      if (fault !== undefined) faults.push({ fault, ...file, stored: stored.length, damage, crash, isAside });
      sum.files++;
      sum.produced += readingsEach;
      sum.stored += stored.length;
      sum.reported.damaged += damage;
      sum.reported.crash += crash;
      if (isAside) sum.setAside++;
    }
    expect(cloud.breaches).toEqual([]);
    faultProgress('damaged files', sum.files, mutations);
  }
  reportFault('mutated_files', { seed, ...sum, faults: faults.length });
  expect(faults.slice(0, 5), `FAULT_SEED=${seed}`).toEqual([]);
  expect(sum.produced).toBe(sum.stored + sum.reported.damaged + sum.reported.crash);
  expect(Math.min(sum.reported.damaged, sum.reported.crash, sum.setAside)).toBeGreaterThan(0);
}, 1_800_000);

interface Found {
  /** As reported. */
  readonly damage: number;
  readonly crash: number;
  /** Whether the file was set aside unchanged. */
  readonly isAside: boolean;
}

function reportedBy(cloud: MemoryCloud, component: string, wanted: GapReason): number {
  return [...cloud.gaps.values()]
    .filter(({ componentName, reason }) => componentName === component && reason === wanted)
    .reduce((all, { readings }) => all + readings, 0);
}

function faultOf(
  file: Damaged,
  stored: readonly LedgerReading[],
  { damage, crash, isAside }: Found,
): string | undefined {
  const { readings, untouched, isOpen } = file;
  const hashes = readings.map(({ hash }) => hash);
  const places = stored.map(({ hash }) => hashes.indexOf(hash));
  if (places.includes(-1)) return 'a reading was invented or changed';
  if (places.some((place, index) => index > 0 && place <= (places[index - 1] ?? 0))) return 'doubled, or out of order';
  if (stored.length + damage + crash !== readings.length) return 'stored and reported are not what was captured';
  if (!isOpen && crash > 0) return 'a crash is reported for a sealed file';
  if (isAside) return untouched > 0 ? 'set aside although the header is intact' : undefined;
  if (places.filter((place) => place < untouched).length < untouched) return 'a reading before the damage is missing';
  return undefined;
}

async function writeDamaged(home: string, count: number, random: () => number): Promise<Damaged[]> {
  const directory = join(home, 'capture');
  const [ledger, encoder, stream] = [new Ledger(), new ReadingEncoder(), new Uint8Array(randomBytes(16))];
  const damaged: Damaged[] = [];
  for (let index = 0; index < count; index++) {
    const component = `c${index}`;
    const header = create(CaptureFileHeaderSchema, {
      ...{ stream, seq: BigInt(index + 1), partId: 'part', created: timestampFromMs(wallUs / 1_000) },
      metadata: {
        ...{ componentType: 'core:component:sensor', componentName: component, methodName: 'Readings' },
        ...{ type: DataType.TABULAR_SENSOR, fileExtension: '.dat' },
      },
    });
    const readings = Array.from({ length: readingsEach }, () => ledger.next('machine', component));
    const encoded = readings.map((reading, at) => {
      const us = wallUs + at * 1_000;
      return encoder.encode({ requestedMicros: us, receivedMicros: us, document: { ...reading } });
    });
    const { kind, at, bytes } = mutate(captureFileBytes(header, encoded), random);
    const isOpen = random() < 0.3;
    const folder = join(directory, 'core_component_sensor', component, 'Readings');
    const open = join(folder, `2026-01-01T00_00_00.000000Z_aaaaaaaa_${index + 1}.prog`);
    await mkdir(folder, { recursive: true });
    await writeFile(isOpen ? open : sealedName(open, readingsEach), bytes);
    const ends = encoded.map((_, last) => captureFileBytes(header, encoded.slice(0, last + 1)).length);
    const untouched = ends.filter((end) => end <= at).length;
    damaged.push({ component, readings, untouched, isOpen, mutation: `${kind} at ${at}` });
  }
  await writeFile(join(home, 'capture_directories.json'), JSON.stringify([directory]));
  await writeFile(join(home, 'capture_alive'), crashOf(damaged.filter(({ isOpen }) => isOpen)));
  return damaged;
}

/** For open files, the crash is known: its time, and that all of their readings, one of them late, were from the last second before it. */
function crashOf(open: readonly Damaged[]): string {
  const api = 'core:component:sensor';
  const series = open.map(({ component: name }) => ({ api, name, method: 'Readings', hz: readingsEach - 1 }));
  const times = [wallUs, wallUs + 1_000_000].map((us) => String(us).padStart(17, '0'));
  return `${times.join(' ')}\n${JSON.stringify(series)}\n`;
}
