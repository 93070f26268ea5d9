/**
 * Bytes that arrive in pieces and are needed as a whole. Their sender chooses how long the pieces are, and a Buffer for each byte takes 200
 * times its memory (D48): all short ones but the first are copied into blocks.
 */
const shortBytes = 1_024;
const blockBytes = 16 << 10;

export class Pieces {
  /** Sum of their lengths. */
  bytes = 0;
  readonly #pieces: Uint8Array[] = [];
  /** The last pieces, copied, are in the first `#used` bytes. */
  #block: Uint8Array = new Uint8Array(0);
  #used = 0;

  /** @param piece must not change afterwards */
  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    const isFirst = this.bytes === 0;
    this.bytes += piece.length;
    if (isFirst || piece.length >= shortBytes) {
      this.#closeBlock();
      this.#pieces.push(piece);
      return;
    }
    if (piece.length > this.#block.length - this.#used) {
      this.#closeBlock();
      this.#block = new Uint8Array(blockBytes);
    }
    this.#block.set(piece, this.#used);
    this.#used += piece.length;
  }

  /** All of them, in one piece; without a copy if there is only one. */
  joined(): Uint8Array {
    this.#closeBlock();
    const [first] = this.#pieces;
    if (this.#pieces.length === 1 && first !== undefined) return first;
    // Not by a Buffer: browsers load this file.
    const whole = new Uint8Array(this.bytes);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  #closeBlock(): void {
    if (this.#used === 0) return;
    this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}
