/** Bytes that are written one after the other. */
export class ByteWriter {
  bytes: Uint8Array = new Uint8Array(64 * 1024);
  at = 0;

  /** Makes room for so many more bytes; `bytes` is another array then. */
  room(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.at + size));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
  }

  /** Leaves room for a few bytes more. */
  copy(bytes: Uint8Array): void {
    this.room(bytes.length + 32);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** So many bytes out of others; there is room. Faster than copy for the eight of a number. */
  item(from: Uint8Array, start: number, size: number, at: number): void {
    const { bytes } = this;
    for (let i = 0; i < size; i++) bytes[at + i] = from[start + i] as number;
  }
}
