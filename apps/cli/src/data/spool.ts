/**
 * The file in which an export collects its rows: lines of JSON, append-only.
 *
 * Invariants: every line except the last is complete. A crash can leave the last line truncated or damaged; the next open removes
 * it. Lines are in the order of the export's series, and within a series in the order of time, so that the last line shows where to
 * continue; lines of the same time are distinguished by their contents.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { invalidArgument } from '@platform/base/refusals';
import { identityOf } from './exported-line.ts';
import { keyOf } from './find-series.ts';

export interface Place {
  /** Key of the series that the last line belongs to. */
  readonly series: string;
  readonly timeMs: number;
  /** How often each identity occurs in the lines of this time. */
  readonly there: Map<string, number>;
}

const bufferBytes = 256 * 1024;

export class Spool implements AsyncDisposable {
  readonly path: string;
  /** Place of the last line when the file was opened; undefined if there was none. */
  readonly place: Place | undefined;
  rows: number;
  bytes: number;
  readonly #file: FileHandle;
  #waiting: string[] = [];
  #waitingBytes = 0;

  constructor(path: string, file: FileHandle, found: Found) {
    this.path = path;
    this.#file = file;
    this.place = found.place;
    this.rows = found.rows;
    this.bytes = found.bytes;
  }

  async append(line: string): Promise<void> {
    const bytes = Buffer.byteLength(line) + 1;
    this.#waiting.push(line, '\n');
    this.#waitingBytes += bytes;
    this.rows++;
    this.bytes += bytes;
    if (this.#waitingBytes >= bufferBytes) await this.#flush();
  }

  /** Resolves when all lines are on disk. */
  async sync(): Promise<void> {
    await this.#flush();
    await this.#file.sync();
  }

  /** Keeps the appended lines. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flush().finally(() => this.#file.close());
  }

  async #flush(): Promise<void> {
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (text !== '') await this.#file.appendFile(text);
  }
}

interface Found {
  readonly place?: Place | undefined;
  readonly rows: number;
  readonly bytes: number;
}

/** @param anew true discards existing contents */
export async function openSpool(path: string, anew: boolean): Promise<Spool> {
  const file = await open(path, anew ? 'w' : 'a').catch((caught: Error) => {
    throw invalidArgument(`expected a file that can be written, found ${path}: ${caught.message}`, caught);
  });
  try {
    const found = anew ? { rows: 0, bytes: 0 } : await readPlace(path);
    await file.truncate(found.bytes);
    return new Spool(path, file, found);
  } catch (caught) {
    await file.close();
    throw caught;
  }
}

async function readPlace(path: string): Promise<Found> {
  let found: Found = { rows: 0, bytes: 0 };
  for await (const { text, end } of readLines(path)) {
    const read = end === undefined ? undefined : readLine(text);
    if (read === undefined || end === undefined) break;
    const { series, timeMs } = read;
    const { place, rows } = found;
    const isSame = place !== undefined && place.series === series && place.timeMs === timeMs;
    const there = isSame ? place.there : new Map<string, number>();
    there.set(read.identity, (there.get(read.identity) ?? 0) + 1);
    found = { place: { series, timeMs, there }, rows: rows + 1, bytes: end };
  }
  return found;
}

/** @returns undefined if it is not a line of an export */
function readLine(text: string): { series: string; timeMs: number; identity: string } | undefined {
  try {
    const { time_captured, resource_subtype, resource_name, method_name } = JSON.parse(text) as Record<string, unknown>;
    const timeMs = Date.parse(String(time_captured));
    if (!Number.isFinite(timeMs)) return undefined;
    const series = keyOf({ api: String(resource_subtype), name: String(resource_name), method: String(method_name) });
    return { series, timeMs, identity: identityOf(text) };
  } catch {
    return undefined;
  }
}

interface Line {
  readonly text: string;
  /** Bytes of the file up to and including the line end; undefined for a last line without one. */
  readonly end: number | undefined;
}

const chunkBytes = 1024 * 1024;

/** The lines of a file of any size. (`node:readline` also splits at U+2028, which JSON allows inside strings.) */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  let read = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const text = Buffer.concat([...rest, chunk.subarray(from, at)]).toString('utf8');
      rest = [];
      from = at + 1;
      yield { text, end: read + from };
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    read += chunk.length;
  }
  if (rest.length > 0) yield { text: Buffer.concat(rest).toString('utf8'), end: undefined };
}
