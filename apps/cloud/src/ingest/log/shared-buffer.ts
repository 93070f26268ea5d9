/**
 * Memory in which batches are passed to the log's thread. It is reused, because fresh memory for each batch causes a page fault per 4 KiB
 * and garbage collections in both threads.
 */

/** Maximum bytes kept for later batches. */
const mostFreeBytes = 8 << 20;
const pageBytes = 64 << 10;

export class SharedBuffer {
  readonly #free: SharedArrayBuffer[] = [];
  #freeBytes = 0;

  /** Copies the bytes to memory that another thread can read until it is given back. */
  copy(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
    const room = new Uint8Array(this.#take(bytes.length), 0, bytes.length);
    room.set(bytes);
    return room;
  }

  /** Call it when the other thread no longer reads the memory. */
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
