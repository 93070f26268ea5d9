/** Signed whole numbers of up to 52 bits as bytes. */

const limit = 2 ** 52 - 1;

export class VarintWriter {
  readonly #bytes: number[] = [];

  unsigned(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes.push((rest % 0x80) + 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes.push(rest);
  }

  /** Values as differences from the previous one. Fractions are rounded; NaN and numbers too large become the nearest that fits. */
  column(values: readonly number[]): void {
    let before = 0;
    for (const value of values) {
      const whole = Number.isNaN(value) ? 0 : Math.max(-limit / 2, Math.min(limit / 2, Math.round(value)));
      const difference = Math.trunc(whole) - before;
      this.unsigned(difference >= 0 ? difference * 2 : -difference * 2 - 1);
      before += difference;
    }
  }

  get bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

export class VarintReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** @throws RangeError at the end */
  unsigned(): number {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || scale > 2 ** 49) throw new RangeError('a number is cut off');
      value += (byte % 0x80) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  column(count: number): number[] {
    const values: number[] = [];
    let before = 0;
    for (let i = 0; i < count; i++) {
      const coded = this.unsigned();
      before += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
      values.push(before);
    }
    return values;
  }
}
