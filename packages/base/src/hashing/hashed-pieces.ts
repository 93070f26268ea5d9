/**
 * Passes the bytes of a long file on, piece by piece, and hashes them at the same time. It reuses a few buffers that both threads can read;
 * nothing else of the file is in memory.
 */
import type { ThreadHash } from './thread-hash.ts';

export type Piece = Uint8Array<SharedArrayBuffer>;

const pieceBytes = 512 * 1024;
const pieceCount = 4;

/** Kept for the next file, because the garbage collector is slow to free shared memory. */
const spare: Piece[] = [];
const maxSpare = 8;

export class HashedPieces implements Disposable {
  readonly #hash: Pick<ThreadHash, 'update'> | undefined;
  readonly #free: Piece[] = [];
  #made = 0;
  readonly #waiting: (() => void)[] = [];
  #passedOn: Promise<void> = Promise.resolve();
  #failure: { readonly caught: unknown } | undefined;

  /** @param hash gets all bytes in order; undefined: they are only passed on */
  constructor(hash: Pick<ThreadHash, 'update'> | undefined) {
    this.#hash = hash;
  }

  /** A buffer to fill, as soon as one is free. @throws what passing on or hashing an earlier piece threw */
  async take(): Promise<Piece> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.caught;
      const piece = this.#free.pop();
      if (piece !== undefined) return piece;
      if (this.#made < pieceCount) {
        this.#made++;
        return spare.pop() ?? new Uint8Array(new SharedArrayBuffer(pieceBytes));
      }
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
  }

  /** Hashes the first `length` bytes and passes them on, after those of earlier pieces. The buffer is free after both. */
  give(piece: Piece, length: number, passOn: (bytes: Piece) => Promise<void> | void): void {
    const bytes = piece.subarray(0, length);
    this.#passedOn = this.#passedOn.then(() => {
      if (this.#failure === undefined) return passOn(bytes);
    });
    this.#passedOn.catch((caught: unknown) => this.#fail(caught));
    Promise.all([this.#passedOn, this.#hash?.update(bytes)]).then(
      () => {
        this.#free.push(piece);
        this.#waiting.shift()?.();
      },
      (caught: unknown) => this.#fail(caught),
    );
  }

  /** Returns a buffer that was not filled. */
  giveBack(piece: Piece): void {
    this.#free.push(piece);
  }

  /** Resolves when everything given has been hashed and passed on. @throws what either threw */
  async settled(): Promise<void> {
    while (this.#free.length < this.#made && this.#failure === undefined)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    // So that nothing is still being passed on, even after a failure.
    await this.#passedOn.catch(() => {});
    if (this.#failure !== undefined) throw this.#failure.caught;
  }

  /** Keeps the free buffers for the next file; those still in use are not reused. */
  [Symbol.dispose](): void {
    for (const piece of this.#free.splice(0)) if (spare.length < maxSpare) spare.push(piece);
  }

  #fail(caught: unknown): void {
    this.#failure ??= { caught };
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
