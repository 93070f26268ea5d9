/** $covariancePop and $covarianceSamp: means and the sum of products of deviations, updated by each pair. */

import { SlidingSum } from '../accumulators/sliding/sum.ts';
import { decimalInfinity, decimalNan } from '../bson/decimal.ts';
import { isNumeric } from '../bson/type.ts';
import { type BsonValue, Decimal128, type Maybe } from '../bson/value.ts';
import { extents } from '../execute/window/extent.ts';
import type { StartWalk } from '../execute/window/partition.ts';
import { slide } from '../execute/window/slide.ts';
import { divide, multiply } from '../functions/numbers/arithmetic.ts';
import { isFiniteNumber, isNan, type Numeric, signOf, toDouble } from '../functions/numbers/number.ts';
import { subtract } from '../functions/numbers/sums.ts';
import { parseExpression } from '../mql/expression.ts';
import type { Covariance } from '../plan/window.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';

export const covariance: WindowFunctionDefinition<Covariance> = {
  names: ['$covariancePop', '$covarianceSamp'],
  takesWindow: true,
  parse: parseCovariance,
  start,
};

function parseCovariance({ name, argument, frame, at }: WindowSpec): Covariance {
  return { k: 'covariance', sample: name === '$covarianceSamp', input: parseExpression(argument, at), frame };
}

function start(fn: Covariance): StartWalk {
  return (partition, value) => {
    const pairs = new Pairs();
    const move = slide(
      extents(fn.frame, partition),
      (index) => pairs.add(value(index)),
      (index) => pairs.remove(value(index)),
    );
    return (index) => {
      move(index);
      return pairs.result(fn.sample);
    };
  };
}

class Pairs {
  #count = 0;
  #x = new SlidingSum();
  #y = new SlidingSum();
  #products = new SlidingSum();
  /** Number of pairs with a NaN, whose sum is a double even among decimals. */
  #nans = 0;

  /** Ignores values that are not an array of two numbers. */
  add(value: Maybe): void {
    const pair = pairOf(value);
    if (pair === undefined) return;
    const [x, y] = pair;
    if (!isFiniteNumber(x) || !isFiniteNumber(y)) {
      if (isNan(x) || isNan(y)) this.#nans++;
      else this.#products.add(infinityOf(x, y));
      return;
    }
    this.#count++;
    const fromX = subtract(x, this.#x.mean());
    this.#x.add(x);
    this.#y.add(y);
    this.#products.add(multiply(fromX, subtract(y, this.#y.mean())));
  }

  remove(value: Maybe): void {
    const pair = pairOf(value);
    if (pair === undefined) return;
    const [x, y] = pair;
    if (!isFiniteNumber(x) || !isFiniteNumber(y)) {
      if (isNan(x) || isNan(y)) this.#nans--;
      else this.#products.remove(infinityOf(x, y));
      return;
    }
    if (--this.#count === 0) {
      this.#x = new SlidingSum();
      this.#y = new SlidingSum();
      this.#products = new SlidingSum();
      return;
    }
    this.#x.remove(x);
    this.#products.remove(multiply(subtract(x, this.#x.mean()), subtract(y, this.#y.mean())));
    this.#y.remove(y);
  }

  result(sample: boolean): BsonValue {
    if (this.#count === 1 && !sample) return 0;
    const divisor = sample ? this.#count - 1 : this.#count;
    if (divisor <= 0) return null;
    if (this.#nans > 0) return Number.NaN;
    const total = this.#products.total() as Numeric;
    return total instanceof Decimal128 ? (divide(total, divisor) ?? null) : toDouble(total) / divisor;
  }
}

function pairOf(value: Maybe): readonly [Numeric, Numeric] | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [x, y] = value;
  return isNumeric(x) && isNumeric(y) ? [x, y] : undefined;
}

/** The effect of a pair with an infinity on the sum of products. */
function infinityOf(x: Numeric, y: Numeric): Numeric {
  const decimal = x instanceof Decimal128 || y instanceof Decimal128;
  const signs = [x, y].filter((each) => !isFiniteNumber(each)).map(signOf);
  if (signs.includes(1) && signs.includes(-1)) return decimal ? decimalNan : Number.NaN;
  const negative = !signs.includes(1);
  if (decimal) return decimalInfinity(negative);
  return negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
