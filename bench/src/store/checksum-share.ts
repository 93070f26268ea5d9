/**
 * The share of file checks in the CPU time of a scan. The tabular process repeatedly scans the same files, in turns with the checks alone,
 * which run in this process with the same code on the same files.
 */
import { join } from 'node:path';
import { cpuSeconds } from '@platform/testkit';
import { createFileVerifier, type FileVerifier } from '../../../apps/cloud/src/tabular/process/files/verify-files.ts';
import type { FileRef } from '../../../apps/cloud/src/tabular/process/messages.ts';
import type { OpenTabular } from '../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { median } from '../figures/statistics.ts';
import type { Figure } from './figure.ts';

const turns = 11;
/** The system counts hundredths of a second: enough scans in each turn make that negligible. */
const scansEach = 5;
/** More checks, because they take much less time. */
const checksEach = 500;

const scan = [
  {
    $group: {
      _id: '$component_name',
      temperature: { $avg: '$data.readings.temperature' },
      humidity: { $avg: '$data.readings.humidity' },
      pressure: { $avg: '$data.readings.pressure' },
    },
  },
];

export async function checksumShare(store: OpenTabular): Promise<Figure> {
  const { processId = -1 } = await store.tabular.status();
  const files = await listedFiles(store);
  const parquetDir = join(store.dataDir, 'parquet');
  // All files are open, and already verified.
  await store.ask(scan);
  const known = newVerifier(parquetDir, files);
  await check(known, files);
  const [scanned, checked, opened]: [number[], number[], number[]] = [[], [], []];
  for (let turn = 0; turn < turns; turn++) {
    const before = cpuSeconds(processId);
    for (let i = 0; i < scansEach; i++) await store.ask(scan);
    scanned.push((cpuSeconds(processId) - before) / scansEach);
    checked.push((await ownCpuSeconds(() => repeat(checksEach, () => check(known, files)))) / checksEach);
    opened.push(await ownCpuSeconds(() => check(newVerifier(parquetDir, files), files)));
  }
  const [scanSeconds, first] = [median(scanned), median(opened)];
  // The time of the scans includes their checks.
  const share = median(checked.map((seconds, turn) => (100 * seconds) / (scanned[turn] ?? Number.NaN)));
  const firstShare = (100 * first) / (scanSeconds + first);
  return {
    name: 'checksums of a scan',
    ...{ value: share, unit: '%', most: 5 },
    note: `${turns} turns, ${files.length} files; a scan takes ${ms(scanSeconds)} of processor time, its checks ${ms(median(checked))}; the first after a start compares all bytes as well: ${ms(first)}, ${firstShare.toFixed(1)} % of that one`,
  };
}

async function listedFiles({ db }: OpenTabular): Promise<FileRef[]> {
  const rows = await db
    .selectFrom('tabular_files')
    .select(['file', 'format', 'capture_day', 'file_bytes', 'sha256', 'block_crcs'])
    .execute();
  return rows.map((row) => ({
    ...{ file: row.file, format: row.format, captureDay: row.capture_day },
    expected: { bytes: row.file_bytes, sha256: row.sha256, blockCrcs: row.block_crcs },
  }));
}

function newVerifier(parquetDir: string, files: readonly FileRef[]): FileVerifier {
  const verifier = createFileVerifier({
    parquetDir,
    now: Date.now,
    sleep: () => Promise.reject(new Error('expected no scrub')),
    report: (file, found) => {
      throw new Error(`expected ${file} to be as it was written, found ${JSON.stringify(found)}`);
    },
  });
  verifier.expect(files);
  return verifier;
}

/** As a scan of all rows does (run-query.ts). */
async function check(verifier: FileVerifier, files: readonly FileRef[]): Promise<void> {
  verifier.expect(files);
  const reader = verifier.reader();
  await reader.footers(files);
  await reader.rows(files.map(({ file }) => file));
  reader.unchanged();
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  for (let i = 0; i < times; i++) await work();
}

/** CPU time of all threads of this process. */
async function ownCpuSeconds(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function ms(seconds: number): string {
  return `${(1_000 * seconds).toPrecision(3)} ms`;
}
