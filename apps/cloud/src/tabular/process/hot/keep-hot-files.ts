/**
 * Hot files across a restart: a note beside each says what it holds and how its bytes must be; the next process takes over those that
 * follow S without a gap, and are as they were written from the log that is there now.
 */
import { createHash } from 'node:crypto';
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { loadLeaves, type StoredLeaf, storeLeaves } from '../facts-in-footer.ts';
import type { LogReader } from '../read-log.ts';
import { loadSeries, type StoredSeries, storeSeries } from '../series-in-footer.ts';
import { createSlice } from '../slice.ts';
import { type HotFile, stampOf } from './hot-file.ts';

/** Raised whenever files or notes change: those of before are removed, and read from the log again. */
const noteFormat = 1;

interface Note {
  readonly format: number;
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  readonly dataBytes: number;
  /** Of the file. */
  readonly sha256: string;
  /** Of the log's row at `to`: another log may have other rows at the same positions. */
  readonly logSha256: string;
  readonly series: StoredSeries;
  readonly slices: readonly {
    readonly captureDay: string;
    readonly first: number;
    readonly series: number;
    readonly leaves: readonly StoredLeaf[];
  }[];
}

export function notePath(path: string): string {
  return path.replace(/\.parquet$/, '.note');
}

/** @param lastBatch the log's row at the file's last position. */
export async function keepNote(file: HotFile, lastBatch: Uint8Array): Promise<void> {
  const note: Note = {
    format: noteFormat,
    from: file.from,
    to: file.to,
    rows: file.rows,
    dataBytes: file.dataBytes,
    sha256: await hashFile(file.path),
    logSha256: hashOf(lastBatch),
    series: storeSeries(file.slices.flatMap(({ series }) => series)),
    slices: file.slices.map(({ captureDay, first, series, leaves }) => ({
      captureDay,
      first,
      series: series.length,
      leaves: storeLeaves(leaves),
    })),
  };
  const path = notePath(file.path);
  await writeFile(`${path}.tmp`, deflateRawSync(JSON.stringify(note), { level: 1 }));
  await rename(`${path}.tmp`, path);
  file.noted = true;
}

/** @returns files that follow `sealed` and each other; whatever else is in the directory is removed. */
export async function adoptHotFiles({
  sealed,
  directory,
  reader,
}: {
  readonly sealed: number;
  readonly directory: string;
  readonly reader: LogReader;
}): Promise<HotFile[]> {
  const names = await readdir(directory).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return [];
    throw caught;
  });
  const noted: { readonly note: Note; readonly path: string }[] = [];
  for (const name of names.filter((each) => each.endsWith('.note'))) {
    const note = await readNote(join(directory, name));
    if (note !== undefined) noted.push({ note, path: join(directory, name.replace(/\.note$/, '.parquet')) });
  }
  // Of several that begin at one position, the one that reaches furthest: it was merged from the others.
  noted.sort((a, b) => a.note.from - b.note.from || b.note.to - a.note.to);
  const adopted: HotFile[] = [];
  let at = sealed;
  for (const { note, path } of noted) {
    if (note.from !== at) continue;
    const file = await adopt(note, path, reader);
    if (file === undefined) continue;
    adopted.push(file);
    at = note.to;
  }
  const kept = new Set(adopted.flatMap(({ path }) => [path, notePath(path)]));
  for (const name of names)
    if (!kept.has(join(directory, name))) await rm(join(directory, name), { force: true, recursive: true });
  return adopted;
}

async function readNote(path: string): Promise<Note | undefined> {
  try {
    const note = JSON.parse(inflateRawSync(await readFile(path)).toString('utf8')) as Note;
    return note.format === noteFormat ? note : undefined;
  } catch {
    // Cut off by a crash, or of another version.
    return undefined;
  }
}

async function adopt(note: Note, path: string, reader: LogReader): Promise<HotFile | undefined> {
  const [row] = await reader.read(note.to - 1, { rows: 1, bytes: 1 });
  if (row?.position !== note.to || hashOf(row.batch) !== note.logSha256) return undefined;
  const stamp = await stampOf(path);
  if (stamp === undefined || (await hashFile(path)) !== note.sha256) return undefined;
  const series = loadSeries(note.series);
  const slices = note.slices.map(({ captureDay, first, series: count, leaves }) =>
    createSlice(
      { path, captureDay, first, series: series.slice(first, first + count), leaves: loadLeaves(leaves) },
      series.length,
    ),
  );
  const { from, to, rows, dataBytes } = note;
  return { path, from, to, rows, dataBytes, slices, stamp, noted: true };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'r');
  try {
    for await (const part of file.createReadStream({ highWaterMark: 1 << 20 })) hash.update(part as Uint8Array);
  } finally {
    await file.close();
  }
  return hash.digest('base64');
}
