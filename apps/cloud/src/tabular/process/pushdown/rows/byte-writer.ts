/** Writes bytes one after another. */
export class ByteWriter {
  bytes: Uint8Array = new Uint8Array(64 * 1024);
  at = 0;

  /** Makes room for `size` more bytes; may replace `bytes`. */
  room(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.at + size));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
  }

  /** Also reserves room for a few more bytes. */
  copy(bytes: Uint8Array): void {
    this.room(bytes.length + 32);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Copies `size` bytes without checking for room. Faster than copy for the eight bytes of a number. */
  item(from: Uint8Array, start: number, size: number, at: number): void {
    const { bytes } = this;
    for (let i = 0; i < size; i++) bytes[at + i] = from[start + i] as number;
  }
}
