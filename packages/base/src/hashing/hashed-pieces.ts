/**
 * Passes the bytes of a long file on, piece by piece, and hashes them at the same time: a few pieces of memory, which both threads can read,
 * are used over and over. What the pieces hold of a file is all of it that is in memory.
 */
import type { ThreadHash } from './thread-hash.ts';

export type Piece = Uint8Array<SharedArrayBuffer>;

const pieceBytes = 512 * 1024;
const pieceCount = 4;

/** Kept for the next file: nothing hurries to collect memory that threads share. */
const spare: Piece[] = [];
const maxSpare = 8;

export class HashedPieces implements Disposable {
  readonly #hash: Pick<ThreadHash, 'update'> | undefined;
  readonly #free: Piece[] = [];
  #made = 0;
  readonly #waiting: (() => void)[] = [];
  #passedOn: Promise<void> = Promise.resolve();
  #failure: { readonly caught: unknown } | undefined;

  /** @param hash gets all bytes in their order; undefined: they are only passed on */
  constructor(hash: Pick<ThreadHash, 'update'> | undefined) {
    this.#hash = hash;
  }

  /** Memory to be filled, as soon as some is free. @throws what passing on or hashing an earlier piece threw */
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

  /** Hashes the first `length` bytes and passes them on, after those of earlier pieces. The memory is free after both. */
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

  /** Returns memory that was not filled. */
  giveBack(piece: Piece): void {
    this.#free.push(piece);
  }

  /** Resolves when everything given was hashed and passed on. @throws what either threw */
  async settled(): Promise<void> {
    while (this.#free.length < this.#made && this.#failure === undefined)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    // Nothing is being passed on any more, also after a failure.
    await this.#passedOn.catch(() => {});
    if (this.#failure !== undefined) throw this.#failure.caught;
  }

  /** Pieces that are still under way are left to them. */
  [Symbol.dispose](): void {
    for (const piece of this.#free.splice(0)) if (spare.length < maxSpare) spare.push(piece);
  }

  #fail(caught: unknown): void {
    this.#failure ??= { caught };
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
