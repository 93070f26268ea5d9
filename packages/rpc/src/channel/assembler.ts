/** Joins the packets of a message. */
import { Pieces } from '../core/pieces.ts';
import type { Packet } from './frames.ts';

export class Assembler {
  #pieces = new Pieces();

  /** Of the packets so far. */
  get bytes(): number {
    return this.#pieces.bytes;
  }

  /** @returns the message, if this packet is its last */
  add({ data, eom }: Packet): Uint8Array | undefined {
    this.#pieces.add(data);
    if (!eom) return undefined;
    const message = this.#pieces.joined();
    this.#pieces = new Pieces();
    return message;
  }
}
