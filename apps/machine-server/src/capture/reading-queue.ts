import type { BinaryFile } from './series.ts';

interface Entry {
  readonly bytes: Uint8Array;
  /** Undefined: it shares a file with others. */
  readonly own: BinaryFile | undefined;
  /** When it arrived, wall clock. */
  readonly us: number;
}

/** What an entry takes besides its bytes, measured with readings of 60 bytes. */
const entryBytes = 200;

/** Readings that are in no file yet, in order. */
export class ReadingQueue {
  /** Those before `#start` were taken: removing each from the front would move all others. */
  #entries: Entry[] = [];
  #start = 0;
  #bytes = 0;

  get length(): number {
    return this.#entries.length - this.#start;
  }

  /** The memory that they take. */
  get bytes(): number {
    return this.#bytes;
  }

  get first(): Entry | undefined {
    return this.#entries[this.#start];
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#bytes += entry.bytes.length + entryBytes;
  }

  /** Removes the first. */
  take(): void {
    const entry = this.first;
    if (entry === undefined) return;
    this.#bytes -= entry.bytes.length + entryBytes;
    this.#start++;
    if (this.#start < 1_024 && this.#start < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#start);
    this.#start = 0;
  }
}
