/**
 * Keeps hot batches across a restart. A note next to the files of each batch records their content and checksums. The next process takes
 * over the batches that follow S without a gap, are unchanged, and were written from the current log.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { blockCrcsOf } from '../files/checksum-file.ts';
import { loadLeaves, type StoredLeaf, storeLeaves } from '../files/facts-in-footer.ts';
import { loadSeries, type StoredSeries, storeSeries } from '../files/series-in-footer.ts';
import { createSlice, type Slice } from '../files/slice.ts';
import type { LogReader } from '../log/read-log.ts';
import { filePaths, type HotBatch, type HotFile, stampOf } from './hot-batch.ts';

/** Increased whenever files or notes change; older ones are removed, and their rows are read from the log again. */
const noteFormat = 2;

interface Note {
  readonly format: number;
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  readonly dataBytes: number;
  /** Hash of the log row at `to`, because another log may have different rows at the same positions. */
  readonly logSha256: string;
  readonly files: readonly NotedFile[];
}

interface NotedFile {
  readonly name: string;
  /** CRC-32 of each block (checksum-file.ts). */
  readonly blockCrcs: string;
  readonly series: StoredSeries;
  /** In the order of the file's series. */
  readonly slices: readonly {
    readonly captureDay: string;
    readonly first: number;
    readonly series: number;
    readonly leaves: readonly StoredLeaf[];
  }[];
}

/** @param lastBatch the log row at the batch's last position */
export async function writeManifest(batch: HotBatch, lastBatch: Uint8Array): Promise<void> {
  const { from, to, rows, dataBytes, notePath } = batch;
  const files: NotedFile[] = [];
  for (const { path } of batch.files) {
    const slices = batch.slices.filter((slice) => slice.path === path).toSorted((a, b) => a.first - b.first);
    files.push({
      name: basename(path),
      blockCrcs: await blockCrcsOf(path),
      series: storeSeries(slices.flatMap(({ series }) => series)),
      slices: slices.map(({ captureDay, first, series, leaves }) => ({
        captureDay,
        first,
        series: series.length,
        leaves: storeLeaves(leaves),
      })),
    });
  }
  const note: Note = { format: noteFormat, from, to, rows, dataBytes, logSha256: hashOf(lastBatch), files };
  await writeFile(`${notePath}.tmp`, deflateRawSync(JSON.stringify(note), { level: 1 }));
  await rename(`${notePath}.tmp`, notePath);
  batch.noted = true;
}

/** @returns batches that follow `sealed` and each other without gaps; everything else in the directory is removed */
export async function adoptHotBatches({
  sealed,
  directory,
  reader,
}: {
  readonly sealed: number;
  readonly directory: string;
  readonly reader: LogReader;
}): Promise<HotBatch[]> {
  const names = await readdir(directory).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return [];
    throw caught;
  });
  const noted: { readonly note: Note; readonly path: string }[] = [];
  for (const name of names.filter((each) => each.endsWith('.note'))) {
    const note = await readNote(join(directory, name));
    if (note !== undefined) noted.push({ note, path: join(directory, name) });
  }
  // Of several that begin at one position, the one that ends last was merged from the others.
  noted.sort((a, b) => a.note.from - b.note.from || b.note.to - a.note.to);
  const adopted: HotBatch[] = [];
  let at = sealed;
  for (const { note, path } of noted) {
    if (note.from !== at) continue;
    const batch = await adopt(note, path, reader);
    if (batch === undefined) continue;
    adopted.push(batch);
    at = note.to;
  }
  const kept = new Set([...filePaths(adopted), ...adopted.map(({ notePath }) => notePath)]);
  for (const name of names)
    if (!kept.has(join(directory, name))) await rm(join(directory, name), { force: true, recursive: true });
  return adopted;
}

async function readNote(path: string): Promise<Note | undefined> {
  try {
    const note = JSON.parse(inflateRawSync(await readFile(path)).toString('utf8')) as Note;
    return note.format === noteFormat ? note : undefined;
  } catch {
    // The note was cut off by a crash, or is of another version.
    return undefined;
  }
}

async function adopt(note: Note, notePath: string, reader: LogReader): Promise<HotBatch | undefined> {
  const [row] = await reader.read(note.to - 1, { rows: 1, bytes: 1 });
  if (row?.position !== note.to || hashOf(row.batch) !== note.logSha256) return undefined;
  const files: HotFile[] = [];
  const slices: Slice[] = [];
  for (const { name, blockCrcs, ...noted } of note.files) {
    const path = join(dirname(notePath), name);
    const stamp = stampOf(path);
    if (stamp === undefined || (await blockCrcsOf(path)) !== blockCrcs) return undefined;
    files.push({ path, stamp });
    const series = loadSeries(noted.series);
    for (const { captureDay, first, series: count, leaves } of noted.slices)
      slices.push(
        createSlice(
          { path, captureDay, first, series: series.slice(first, first + count), leaves: loadLeaves(leaves) },
          series.length,
        ),
      );
  }
  const { from, to, rows, dataBytes } = note;
  return { from, to, rows, dataBytes, files, slices, notePath, noted: true };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
