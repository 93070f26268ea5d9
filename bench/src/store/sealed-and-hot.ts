/**
 * (a) all readings sealed, (b) the newest million hot: the same readings and queries, compared with DuckDB over typed Parquet in the same
 * run.
 */
import { parseSql } from '@platform/query/sql';
import {
  type OpenTabular,
  openTabular,
  wholeOrganization,
} from '../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { openTypedColumns, type TypedColumns } from '../../limits/typed-columns.ts';
import { scratch } from '../cloud/scratch.ts';
import { fill, sizesOf } from '../queries/fill.ts';
import { timesInTurns } from '../queries/line.ts';
import { checksumShare } from './checksum-share.ts';
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
