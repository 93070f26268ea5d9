/** Readings as ranges of the bytes that contain them: an upload may have a million, and an object for each would take more than they do. */
const firstRanges = 32;

export class ReadingRanges {
  readonly bytes: Uint8Array;
  /** Number of readings. */
  count = 0;
  /** Sum of their lengths. */
  totalBytes = 0;
  /** Start and end of each, alternating. */
  #ranges = new Uint32Array(2 * firstRanges);

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Copies them. @param readings each an encoded SensorData */
  static of(readings: readonly Uint8Array[]): ReadingRanges {
    const ranges = new ReadingRanges(Buffer.concat(readings));
    let at = 0;
    for (const { length } of readings) {
      ranges.add(at, at + length);
      at += length;
    }
    return ranges;
  }

  add(start: number, end: number): void {
    const at = 2 * this.count++;
    if (at === this.#ranges.length) {
      const grown = new Uint32Array(2 * at);
      grown.set(this.#ranges);
      this.#ranges = grown;
    }
    this.#ranges[at] = start;
    this.#ranges[at + 1] = end;
    this.totalBytes += end - start;
  }

  start(index: number): number {
    return this.#ranges[2 * index] as number;
  }

  end(index: number): number {
    return this.#ranges[2 * index + 1] as number;
  }

  /** A view of the bytes. */
  at(index: number): Uint8Array {
    return this.bytes.subarray(this.start(index), this.end(index));
  }
}
