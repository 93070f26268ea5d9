/**
 * The memory for readings that wait for the disk: 64 MiB for all series together. Half of it is divided equally; the other half belongs to
 * those that need more, first come, first served. So a camera can wait for a slow disk longer than its equal share would let it, and no
 * series is ever refused because others wait.
 */

const mostBytes = 64 * 1024 * 1024;

export class CaptureMemory {
  readonly #mostBytes: number;
  readonly #shares = new Set<MemoryShare>();
  #bytes = 0;

  constructor(most: number = mostBytes) {
    this.#mostBytes = most;
  }

  /** The share of one more series. */
  share(): MemoryShare {
    const share = new MemoryShare({
      grow: (bytes) => (this.#bytes += bytes),
      hasRoom: (of) => this.#hasRoom(of),
      end: (of) => this.#shares.delete(of),
    });
    this.#shares.add(share);
    return share;
  }

  #hasRoom(of: MemoryShare): boolean {
    const common = this.#mostBytes / 2;
    if (this.#bytes < common) return true;
    const own = common / this.#shares.size;
    if (of.bytes < own) return true;
    let beyond = 0;
    for (const { bytes } of this.#shares) beyond += Math.max(0, bytes - own);
    return beyond < common;
  }
}

interface OfAll {
  readonly grow: (bytes: number) => void;
  readonly hasRoom: (of: MemoryShare) => boolean;
  readonly end: (of: MemoryShare) => void;
}

/** What one series holds. */
export class MemoryShare implements Disposable {
  readonly #all: OfAll;
  #bytes = 0;
  #isEnded = false;

  constructor(all: OfAll) {
    this.#all = all;
  }

  get bytes(): number {
    return this.#bytes;
  }

  set bytes(bytes: number) {
    if (this.#isEnded) return;
    this.#all.grow(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  /** Whether another reading may be taken; its size does not matter, so that the limit is exceeded by at most one of each series. */
  get hasRoom(): boolean {
    return this.#all.hasRoom(this);
  }

  [Symbol.dispose](): void {
    this.bytes = 0;
    this.#isEnded = true;
    this.#all.end(this);
  }
}
