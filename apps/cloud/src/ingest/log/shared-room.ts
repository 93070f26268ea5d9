/**
 * Memory in which batches reach the log's thread. It is used again and again: memory that is new for each batch costs a page fault for
 * each 4 KiB, and collections of garbage in both threads.
 */

/** Kept for the next batches at most. */
const mostFreeBytes = 8 << 20;
const pageBytes = 64 << 10;

export class SharedRoom {
  readonly #free: SharedArrayBuffer[] = [];
  #freeBytes = 0;

  /** A copy of the bytes that another thread can read, until it is given back. */
  copy(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
    const room = new Uint8Array(this.#take(bytes.length), 0, bytes.length);
    room.set(bytes);
    return room;
  }

  /** The other thread reads it no more. */
  giveBack({ buffer }: Uint8Array<SharedArrayBuffer>): void {
    if (this.#freeBytes + buffer.byteLength > mostFreeBytes) return;
    this.#free.push(buffer);
    this.#freeBytes += buffer.byteLength;
  }

  #take(length: number): SharedArrayBuffer {
    const at = this.#free.findLastIndex(({ byteLength }) => byteLength >= length);
    const [free] = at < 0 ? [] : this.#free.splice(at, 1);
    if (free === undefined) return new SharedArrayBuffer(Math.ceil(length / pageBytes) * pageBytes);
    this.#freeBytes -= free.byteLength;
    return free;
  }
}
