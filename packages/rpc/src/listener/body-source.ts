/** Reads a body in pieces of the requested length. */
export class BodySource implements AsyncDisposable {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #held: Uint8Array[] = [];
  #length = 0;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** Bytes available now. */
  get length(): number {
    return this.#length;
  }

  /** Waits until this many bytes are available; false if the body ends first. */
  async fill(length: number): Promise<boolean> {
    while (this.#length < length) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      if (next.value.length === 0) continue;
      this.#held.push(next.value);
      this.#length += next.value.length;
    }
    return true;
  }

  /** The next bytes, at most `length` of those available. */
  peek(length: number): Uint8Array {
    const [first = new Uint8Array()] = this.#held;
    if (first.length >= length || this.#held.length < 2) return first.subarray(0, length);
    const joined = Buffer.concat(this.#held);
    this.#held.splice(0, this.#held.length, joined);
    return joined.subarray(0, length);
  }

  take(length: number): Uint8Array {
    const taken = this.peek(length);
    const [first = taken] = this.#held.splice(0, 1);
    if (first.length > taken.length) this.#held.unshift(first.subarray(taken.length));
    this.#length -= taken.length;
    return taken;
  }

  /** Discards the rest of the body. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chunks.return?.();
  }
}
