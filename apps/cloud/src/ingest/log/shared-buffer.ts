/**
 * Memory in which batches are passed to the log's thread. It is reused, because fresh memory for each batch causes a page fault per 4 KiB
 * and is freed only after both threads have collected garbage, which shared memory does not trigger in either.
 */

/** Pages at the end that are never used take no memory. */
const totalBytes = 16 << 20;
const pageBytes = 16 << 10;

export class SharedBuffer {
  readonly #buffer = new SharedArrayBuffer(totalBytes);
  /** By page: 1 while it is in use. */
  readonly #used = new Uint8Array(totalBytes / pageBytes);

  /** Copies the bytes to memory that another thread can read until it is returned. */
  copy(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
    const room = this.#take(bytes.length);
    room.set(bytes);
    return room;
  }

  /** Call it when the other thread no longer reads the memory. */
  giveBack({ buffer, byteOffset, length }: Uint8Array<SharedArrayBuffer>): void {
    if (buffer !== this.#buffer) return;
    const first = byteOffset / pageBytes;
    this.#used.fill(0, first, first + pagesFor(length));
  }

  /** The first free pages that are large enough, so that few are ever touched; separate memory if there are none. */
  #take(length: number): Uint8Array<SharedArrayBuffer> {
    const pages = pagesFor(length);
    let free = 0;
    for (let page = 0; page < this.#used.length; page++) {
      free = this.#used[page] === 0 ? free + 1 : 0;
      if (free < pages) continue;
      const first = page + 1 - pages;
      this.#used.fill(1, first, first + pages);
      return new Uint8Array(this.#buffer, first * pageBytes, length);
    }
    return new Uint8Array(new SharedArrayBuffer(length));
  }
}

const pagesFor = (length: number): number => Math.max(1, Math.ceil(length / pageBytes));
