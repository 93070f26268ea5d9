/** Turns stored rows back into the uploads in which they arrived, in order of arrival. */
import type { EventPlace } from '../../outbox/event.ts';
import type { Document } from '../../reading-codec/read-document.ts';
import type { ArrivalsPage } from '../../tabular/arrivals/read-arrivals.ts';
import type { ReadingTimes, UploadInput, UploadReadings } from '../input.ts';
import { type DocumentOf, storedDocuments } from './stored-documents.ts';

/** The rows of a page in order of arrival. */
interface Ordered {
  readonly rows: number;
  readonly position: Float64Array;
  readonly index: Int32Array;
  /** Chunk, and row within it. */
  readonly chunk: Uint32Array;
  readonly row: Uint32Array;
  /** For each place in order, an index into the arrays above. Undefined: they are in order. */
  readonly order: Uint32Array | undefined;
}

/** @param place of the part that the rows belong to */
export function* storedUploads(page: ArrivalsPage, place: EventPlace): Generator<UploadInput> {
  const ordered = orderOf(page);
  const { rows, position, chunk: chunkOf, row: rowOf, order } = ordered;
  const documents = page.map(storedDocuments);
  for (let from = 0; from < rows; ) {
    const at = order === undefined ? from : (order[from] as number);
    const own = position[at] as number;
    let to = from + 1;
    while (to < rows && position[order === undefined ? to : (order[to] as number)] === own) to++;
    const chunk = page[chunkOf[at] as number] as ArrivalsPage[number];
    const row = rowOf[at] as number;
    const { component_type, component_name, method_name } = chunk.series[
      chunk.seriesOf[row] as number
    ] as (typeof chunk.series)[0];
    yield {
      kind: 'upload',
      position: own,
      atMs: chunk.syncedMs[row] as number,
      place,
      metadata: { componentType: component_type, componentName: component_name, methodName: method_name },
      dataType: 'tabular',
      // Not stored with rows.
      isUnspecified: false,
      // Not stored with rows. Only events contain it, and a dry run sends none.
      fileId: '',
      readings: new StoredReadings(page, documents, ordered, from, to),
    };
    from = to;
  }
}

function orderOf(chunks: ArrivalsPage): Ordered {
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
  const position = new Float64Array(rows);
  const index = new Int32Array(rows);
  const [chunk, row] = [new Uint32Array(rows), new Uint32Array(rows)];
  let at = 0;
  for (const [number, one] of chunks.entries()) {
    position.set(one.position, at);
    index.set(one.index, at);
    chunk.fill(number, at, at + one.rows);
    for (let i = 0; i < one.rows; i++) row[at + i] = i;
    at += one.rows;
  }
  const isBefore = (a: number, b: number): boolean => {
    const [first, second] = [position[a] as number, position[b] as number];
    return first < second || (first === second && (index[a] as number) <= (index[b] as number));
  };
  return { rows, position, index, chunk, row, order: mergedRuns(rows, isBefore) };
}

/** Rows of a file are in order within each series, so there are few runs. Undefined: all rows form one run. */
function mergedRuns(rows: number, isBefore: (a: number, b: number) => boolean): Uint32Array | undefined {
  let starts = [0];
  for (let i = 1; i < rows; i++) if (!isBefore(i - 1, i)) starts.push(i);
  if (starts.length === 1) return undefined;
  let from = Uint32Array.from({ length: rows }, (_, i) => i);
  let to = new Uint32Array(rows);
  while (starts.length > 1) {
    const merged: number[] = [];
    for (let run = 0; run < starts.length; run += 2) {
      const [start, middle, end] = [starts[run] as number, starts[run + 1] ?? rows, starts[run + 2] ?? rows];
      merged.push(start);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        const takesLeft = right >= end || (left < middle && isBefore(from[left] as number, from[right] as number));
        to[at] = from[takesLeft ? left++ : right++] as number;
      }
    }
    [from, to] = [to, from];
    starts = merged;
  }
  return from;
}

const noTimes: ReadingTimes = { receivedMs: null, requestedMs: null };

/** The readings of an upload that were read. Each keeps its index in the upload; the other indexes have no document. */
class StoredReadings implements UploadReadings {
  readonly count: number;
  readonly #page: ArrivalsPage;
  readonly #documents: readonly DocumentOf[];
  readonly #ordered: Ordered;
  readonly #from: number;
  readonly #to: number;

  constructor(page: ArrivalsPage, documents: readonly DocumentOf[], ordered: Ordered, from: number, to: number) {
    this.#page = page;
    this.#documents = documents;
    this.#ordered = ordered;
    this.#from = from;
    this.#to = to;
    this.count = (ordered.index[this.#entry(to - 1)] as number) + 1;
  }

  document(index: number): Document | undefined {
    const entry = this.#find(index);
    if (entry < 0) return undefined;
    return this.#documents[this.#ordered.chunk[entry] as number]?.(this.#ordered.row[entry] as number);
  }

  times(index: number): ReadingTimes {
    const entry = this.#find(index);
    if (entry < 0) return noTimes;
    const ms = this.#page[this.#ordered.chunk[entry] as number]?.receivedMs[this.#ordered.row[entry] as number];
    return { receivedMs: ms === undefined || Number.isNaN(ms) ? null : ms, requestedMs: null };
  }

  #entry(place: number): number {
    const { order } = this.#ordered;
    return order === undefined ? place : (order[place] as number);
  }

  /** -1: it was not read. */
  #find(index: number): number {
    const { index: indices } = this.#ordered;
    // Usually no reading is omitted.
    const guess = this.#from + index;
    if (guess < this.#to) {
      const entry = this.#entry(guess);
      if (indices[entry] === index) return entry;
    }
    for (let place = Math.min(guess, this.#to - 1); place >= this.#from; place--) {
      const entry = this.#entry(place);
      if (indices[entry] === index) return entry;
      if ((indices[entry] as number) < index) return -1;
    }
    return -1;
  }
}
