/**
 * (a) all readings sealed, (b) the newest million hot: the same readings and queries, compared with DuckDB over typed Parquet in the same
 * run.
 */
import { join } from 'node:path';
import { parseSql } from '@platform/query/sql';
import { cpuSeconds } from '@platform/testkit';
import { createFileVerifier, type FileVerifier } from '../../../apps/cloud/src/tabular/process/files/verify-files.ts';
import type { FileRef } from '../../../apps/cloud/src/tabular/process/messages.ts';
import {
  type OpenTabular,
  openTabular,
  wholeOrganization,
} from '../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { openTypedColumns, type TypedColumns } from '../../limits/typed-columns.ts';
import { scratch } from '../cloud/scratch.ts';
import { median } from '../figures/statistics.ts';
import { fill, sizesOf } from '../queries/fill.ts';
import { timesInTurns } from '../queries/line.ts';
import type { Figure } from './figure.ts';
import { type Asked, asked, seriesOfFleet } from './questions.ts';

export interface SealedAndHotOptions {
  readonly readings: number;
  /** How often each query runs, after as many warm-up runs that do not count. */
  readonly runs: number;
  readonly wants: (section: 'a' | 'b' | 'size' | 'checksums') => boolean;
}

const hotReadings = 1_000_000;
/** Hot readings stay hot until they are sealed explicitly. */
const unhurried = { sealRows: 1e9, sealBytes: 1e12, sealAgeMs: 86_400_000 };
const seriesAt = seriesOfFleet;

export async function sealedAndHot({ readings, runs, wants }: SealedAndHotOptions): Promise<Figure[]> {
  using folder = scratch();
  await using store = await openTabular(unhurried, { folder: folder.path });
  const sealedShare = 1 - Math.min(0.5, hotReadings / readings);
  const hot = new Map<string, number>();
  if (wants('b')) {
    await fill(store, readings, { seriesAt, share: [0, sealedShare] });
    await fill(store, readings, { seriesAt, share: [sealedShare, 1] }, 'hot');
    for (const each of asked) hot.set(each.name, await timeOf(store, each, runs));
    await store.tabular.seal();
  } else await fill(store, readings, { seriesAt });

  using columns = await openTypedColumns(folder.path, readings, { seriesAt });
  const figures: Figure[] = [];
  for (const each of asked) {
    const { rows, ms, peerMs } = await besideDuckDb(store, columns, each, runs);
    if (wants('a'))
      figures.push({
        name: `a ${each.name}`,
        ...{ value: ms, unit: 'ms', beside: peerMs, mostRatio: 2, aimRatio: 1.3, enough: 15 },
        note: `${rows} rows; beside DuckDB`,
      });
    const hotMs = hot.get(each.name);
    if (hotMs !== undefined)
      figures.push({
        name: `b ${each.name}`,
        ...{ value: hotMs, unit: 'ms', beside: ms, mostRatio: 1.5, enough: 15 },
        note: 'beside all sealed',
      });
  }
  if (wants('size')) figures.push(await sizeBesideDuckDb(store, folder.path, readings));
  if (wants('checksums')) figures.push(await checksumShare(store));
  return figures.sort((one, other) => one.name.charCodeAt(0) - other.name.charCodeAt(0));
}

const answer = (store: OpenTabular, { question: { mql, sql }, language }: Asked): ReturnType<OpenTabular['ask']> =>
  language === 'MQL' || sql === undefined
    ? store.ask(mql)
    : store.tabular.query({ plan: parseSql(sql), scope: wholeOrganization, vocabulary: 'core' });

async function timeOf(store: OpenTabular, each: Asked, runs: number): Promise<number> {
  const [ms = Number.NaN] = await timesInTurns(runs, [() => answer(store, each)]);
  return ms;
}

async function besideDuckDb(
  store: OpenTabular,
  columns: TypedColumns,
  each: Asked,
  runs: number,
): Promise<{ rows: number; ms: number; peerMs: number }> {
  const rows = (await answer(store, each)).count;
  const peerRows = await columns.encoded(each.peer);
  if (rows !== peerRows) throw new Error(`${each.name}: ${rows} rows, DuckDB has ${peerRows}`);
  const [ms = Number.NaN, peerMs = Number.NaN] = await timesInTurns(runs, [
    () => answer(store, each),
    () => columns.encoded(each.peer),
  ]);
  return { rows, ms, peerMs };
}

async function sizeBesideDuckDb(store: OpenTabular, folder: string, readings: number): Promise<Figure> {
  const { fileBytes, files } = await sizesOf(store);
  using documents = await openTypedColumns(folder, readings, { seriesAt, documents: true });
  return {
    name: 'sealed bytes',
    ...{ value: fileBytes / 1e6, unit: 'MB', beside: documents.fileBytes / 1e6, mostRatio: 1.5 },
    note: `${files} files; beside DuckDB's Parquet of the columns and the documents`,
  };
}

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

/**
 * The share of file checks in the CPU time of a scan. The tabular process repeatedly scans the same files, in turns with the checks alone,
 * which run in this process with the same code on the same files.
 */
async function checksumShare(store: OpenTabular): Promise<Figure> {
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
