/**
 * Tracks which uploads of which stream may still be sent (I5, I6).
 *
 * Each start draws its own stream at random and counts its files in memory. Streams of earlier starts are known from the headers of the
 * files that they left. The low-water mark of a stream is the least seq that is still outstanding. It never rises above an existing file,
 * because a seq is removed only by its acknowledgement or its counted discard.
 */
import { randomBytes } from 'node:crypto';

export class SeqLedger {
  /** 16 random bytes. */
  readonly stream: Uint8Array<ArrayBuffer> = new Uint8Array(randomBytes(16));
  readonly #own: OutstandingSeqs = new OutstandingSeqs();
  readonly #left = new Map<string, OutstandingSeqs>();
  #next = 1;
  #complete = false;

  /** Takes the next seq of this process's stream; it is outstanding from now on. */
  take(): number {
    const seq = this.#next++;
    this.#own.add(seq);
    return seq;
  }

  /** Records a file that was found on disk. */
  found(stream: Uint8Array, seq: number): void {
    if (this.#isOwn(stream)) return;
    const key = keyOf(stream);
    let seqs = this.#left.get(key);
    if (seqs === undefined) {
      seqs = new OutstandingSeqs();
      this.#left.set(key, seqs);
    }
    seqs.add(seq);
  }

  /** All files of earlier starts have been found: from now on their low-water marks can be reported (C10). */
  complete(): void {
    this.#complete = true;
  }

  /** Records that the file was acknowledged, or discarded and counted. */
  settle(stream: Uint8Array, seq: number): void {
    const seqs = this.#isOwn(stream) ? this.#own : this.#left.get(keyOf(stream));
    seqs?.remove(seq);
  }

  /** The low-water mark to send with `seq` of `stream`; 0: not reported. Never above `seq`. */
  lowWaterMark(stream: Uint8Array, seq: number): number {
    if (this.#isOwn(stream)) return Math.min(seq, this.#own.least() ?? this.#next);
    if (!this.#complete) return 0;
    return Math.min(seq, this.#left.get(keyOf(stream))?.least() ?? 0);
  }

  #isOwn(stream: Uint8Array): boolean {
    return keyOf(stream) === keyOf(this.stream);
  }
}

const bitsInChunk = 1_024;

/** A set of numbers in chunks of bits: 1.5 million waiting files take 200 KB. */
class OutstandingSeqs {
  readonly #chunks = new Map<number, Uint8Array>();

  add(seq: number): void {
    const key = Math.floor(seq / bitsInChunk);
    let bits = this.#chunks.get(key);
    if (bits === undefined) {
      bits = new Uint8Array(bitsInChunk / 8);
      this.#chunks.set(key, bits);
    }
    const at = seq % bitsInChunk;
    bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
  }

  remove(seq: number): void {
    const key = Math.floor(seq / bitsInChunk);
    const bits = this.#chunks.get(key);
    if (bits === undefined) return;
    const at = seq % bitsInChunk;
    bits[at >> 3] = (bits[at >> 3] as number) & ~(1 << (at & 7));
    if (bits.every((byte) => byte === 0)) this.#chunks.delete(key);
  }

  least(): number | undefined {
    let first: number | undefined;
    for (const key of this.#chunks.keys()) if (first === undefined || key < first) first = key;
    const bits = first === undefined ? undefined : this.#chunks.get(first);
    if (first === undefined || bits === undefined) return undefined;
    const byte = bits.findIndex((value) => value !== 0);
    return first * bitsInChunk + byte * 8 + Math.log2((bits[byte] as number) & -(bits[byte] as number));
  }
}

function keyOf(stream: Uint8Array): string {
  return Buffer.from(stream.buffer, stream.byteOffset, stream.length).toString('latin1');
}
