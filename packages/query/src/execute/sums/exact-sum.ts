/**
 * Sums as $sum and $avg define them, exact until they are read: so neither the order of the numbers nor their split into parts changes the
 * last digit. Values that are not numbers are ignored.
 *
 * The sum of the finite doubles is `high + low + rest`: two doubles hold everything that spans at most 106 bits, and the few other values
 * are added to a whole number. The result is rounded only once, at the end.
 */
import { decimalInfinity, decimalNan, encodeDecimal, partsOfNumber } from '../../bson/decimal.ts';
import { add, decimalOfWhole, divide } from '../../bson/decimal-arithmetic.ts';
import { BsonDocument, type BsonValue, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { maxLong, minLong } from '../../functions/numbers/number.ts';
import { DecimalSum } from './decimal-sum.ts';

const sawDouble = 1;
const sawLong = 2;

export class ExactSum {
  /** Numbers added. */
  count = 0;
  #kinds = 0;
  #whole = 0;
  #wide = 0n;
  #high = 0;
  #low = 0;
  /** In units of 2^-1074. */
  #rest = 0n;
  #special = 0;
  #decimal: DecimalSum | undefined;

  add(value: Maybe): void {
    if (typeof value === 'number') {
      this.#kinds |= sawDouble;
      this.#addDouble(value);
    } else if (value instanceof Int32) {
      this.#whole += value.value;
      if (Math.abs(this.#whole) > 2 ** 52) this.#spill();
    } else if (typeof value === 'bigint') {
      this.#kinds |= sawLong;
      this.#wide += value;
    } else if (value instanceof Decimal128) {
      this.#decimal ??= new DecimalSum();
      this.#decimal.add(value);
    } else return;
    this.count++;
  }

  /** The smallest type that holds it: int, long; a double if one was added or 64 bits do not suffice; decimal takes precedence. */
  total(): BsonValue {
    this.#spill();
    if (this.#decimal !== undefined) return this.#withDecimal(this.#decimal.total());
    if ((this.#kinds & sawDouble) !== 0) return this.#double();
    const isLong = (this.#kinds & sawLong) !== 0;
    if (!isLong && this.#wide >= -2147483648n && this.#wide <= 2147483647n) return new Int32(Number(this.#wide));
    return this.#wide >= minLong && this.#wide <= maxLong ? this.#wide : Number(this.#wide);
  }

  mean(): number | Decimal128 {
    this.#spill();
    if (this.#decimal === undefined) return this.#double() / this.count;
    return divide(this.#withDecimal(this.#decimal.total()), decimalOfWhole(this.count));
  }

  /** The state that plan/partial-state.ts describes. */
  partial(): BsonDocument {
    this.#spill();
    const state = BsonDocument.of({ n: BigInt(this.count), kinds: new Int32(this.#kinds) });
    const wide = this.#wide;
    if (wide !== 0n) state.set('whole', wide >= minLong && wide <= maxLong ? wide : wide.toString());
    const parts = [this.#high, this.#low].filter((part) => part !== 0);
    if (parts.length > 0) state.set('parts', parts);
    if (this.#rest !== 0n) state.set('rest', this.#rest.toString());
    if (this.#special !== 0) state.set('special', this.#special);
    if (this.#decimal !== undefined) state.set('decimal', this.#decimal.toString());
    return state;
  }

  /** Adds the `partial` state of another sum. */
  merge(state: BsonValue): void {
    if (!(state instanceof BsonDocument)) throw new Error('expected the state of a sum, found another value');
    this.count += wholeNumber(state.get('n'));
    this.#kinds |= wholeNumber(state.get('kinds'));
    const whole = state.get('whole');
    if (typeof whole === 'bigint' || typeof whole === 'string') this.#wide += BigInt(whole);
    const parts = state.get('parts');
    if (Array.isArray(parts)) for (const part of parts) if (typeof part === 'number') this.#addDouble(part);
    const rest = state.get('rest');
    if (typeof rest === 'string') this.#rest += BigInt(rest);
    const special = state.get('special');
    if (typeof special === 'number') this.#addSpecial(special);
    const decimal = state.get('decimal');
    if (typeof decimal !== 'string') return;
    this.#decimal ??= new DecimalSum();
    this.#decimal.merge(decimal);
  }

  #spill(): void {
    if (this.#whole === 0) return;
    this.#wide += BigInt(this.#whole);
    this.#whole = 0;
  }

  #addDouble(value: number): void {
    const sum = this.#high + value;
    const part = sum - this.#high;
    const lost = this.#high - (sum - part) + (value - part);
    if (lost === 0) this.#high = sum;
    else this.#addLost(value, sum, lost);
  }

  /** @param lost NaN if the value or the sum is not finite. */
  #addLost(value: number, sum: number, lost: number): void {
    if (!Number.isFinite(value)) this.#addSpecial(value);
    else if (Number.isFinite(lost)) {
      this.#high = sum;
      const low = this.#low + lost;
      const part = low - this.#low;
      const more = this.#low - (low - part) + (lost - part);
      this.#low = low;
      if (more !== 0) this.#rest += fixedOf(more);
    } else {
      this.#rest += fixedOf(this.#high) + fixedOf(value);
      this.#high = 0;
    }
  }

  #addSpecial(value: number): void {
    const sum = this.#special + value;
    // NaN has many bit patterns; which one a processor returns depends on its operands.
    this.#special = Number.isNaN(sum) ? Number.NaN : sum;
  }

  #double(): number {
    if (this.#special !== 0) return this.#special;
    // Adding two doubles rounds their exact sum correctly; adding three would not.
    if (this.#rest === 0n && this.#wide === 0n) return this.#high + this.#low;
    const whole = Number(this.#wide);
    if (this.#rest === 0n && this.#low === 0 && Number.isSafeInteger(whole)) return this.#high + whole;
    return nearestDouble(this.#fixed() + (this.#wide << 1074n));
  }

  #fixed(): bigint {
    return fixedOf(this.#high) + fixedOf(this.#low) + this.#rest;
  }

  /** Includes integers and doubles with all their digits. */
  #withDecimal(decimal: Decimal128): Decimal128 {
    const special = this.#special;
    if (special !== 0) return add(decimal, Number.isNaN(special) ? decimalNan : decimalInfinity(special < 0));
    let sum = add(decimal, decimalOfWhole(this.#wide));
    let fixed = this.#fixed();
    // Three doubles hold more digits than a decimal.
    for (let part = 0; part < 3 && fixed !== 0n; part++) {
      const nearest = nearestDouble(fixed);
      if (!Number.isFinite(nearest)) return add(sum, decimalOfWhole(fixed >> 1074n));
      sum = add(sum, encodeDecimal(partsOfNumber(nearest)));
      fixed -= fixedOf(nearest);
    }
    return sum;
  }
}

function wholeNumber(value: Maybe): number {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Int32) return value.value;
  throw new Error('expected a whole number in the state of a sum');
}

const bits = new DataView(new ArrayBuffer(8));

/** Converts doubles to and from whole numbers of 2^-1074, the smallest double: sums of these are exact. @param value finite. */
function fixedOf(value: number): bigint {
  bits.setFloat64(0, value);
  const high = bits.getUint32(0);
  const exponent = (high >>> 20) & 0x7ff;
  const fraction = (high & 0xfffff) * 2 ** 32 + bits.getUint32(4);
  const size = exponent === 0 ? BigInt(fraction) : BigInt(fraction + 2 ** 52) << BigInt(exponent - 1);
  return value < 0 ? -size : size;
}

const wide: readonly [bigint, bigint] = [1n << 1023n, 1n << 1900n];

/** The nearest double, the even one if two are equally near; an infinity beyond all doubles. */
function nearestDouble(fixed: bigint): number {
  const size = fixed < 0n ? -fixed : fixed;
  // Keeps enough bits to round correctly; of the rest it matters only whether there is any.
  const cut = size < wide[0] ? 0n : size < wide[1] ? 960n : 1800n;
  const kept = size >> cut;
  const number = Number(kept << cut === size ? kept : kept | 1n) * 2 ** (Number(cut) - 1074);
  return fixed < 0n ? -number : number;
}
