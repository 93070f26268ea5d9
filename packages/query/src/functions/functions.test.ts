import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeBson } from '../bson/encode.ts';
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  type BsonValue,
  Code,
  Int32,
  MaxKey,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from '../bson/value.ts';
import { QueryError } from '../query-error.ts';
import { evaluate } from '../testing/evaluate.ts';
import { operators } from './registry.ts';

const values: readonly BsonValue[] = [
  ...[null, true, false, 0, -0, 1.5, -2.5, 1e300, Number.NaN, Number.NEGATIVE_INFINITY, 0n, 7n, 2n ** 63n - 1n],
  ...[new Int32(0), new Int32(1), new Int32(-3), new Int32(2147483647), '', 'a', 'ab-ab', 'é😀', '12', '-'],
  ...[new BsonDate(0), new BsonDate(-1), new ObjectId(new Uint8Array(12)), new Binary(new Uint8Array(3), 4)],
  ...[new Regex('a', 'i'), new Timestamp(5n << 32n), new Code('f'), new BsonSymbol('a'), new MinKey(), new MaxKey()],
  ...[[], [new Int32(1), 2, 'a', null], ['a', 'b'], [['k', new Int32(1)]], [[]]],
  ...[new BsonDocument(), BsonDocument.of({ k: 'a', v: 1 }), [BsonDocument.of({ k: 'a', v: [] })]],
];

async function outcome(expression: object, row: object): Promise<string> {
  try {
    const value = await evaluate(expression, row);
    return value === undefined ? 'missing' : encodeBson(BsonDocument.of({ value })).join(' ');
  } catch (error) {
    if (error instanceof QueryError) return `error ${error.code}`;
    throw error;
  }
}

/** Functions in which a constant of a wrong type has its own code or order of evaluation. */
const ownWayWithConstants = ['$setEquals', '$setIsSubset'];

test('any function of any values gives a value or a query error, the same for literals as for fields', async () => {
  const arities = new Map(
    [...operators].flatMap(
      ([
        name,
        {
          definition: { mql },
        },
      ]) =>
        mql === undefined || typeof mql === 'function' || ownWayWithConstants.includes(name)
          ? []
          : [[name, typeof mql === 'number' ? ([mql, mql] as const) : mql]],
    ),
  );
  const call = fc.tuple(fc.constantFrom(...arities.keys()), fc.array(fc.constantFrom(...values), { maxLength: 4 }));
  await fc.assert(
    fc.asyncProperty(call, async ([name, drawn]) => {
      const [least, most] = arities.get(name)!;
      const args = Array.from(
        { length: Math.max(least, Math.min(most, drawn.length)) },
        (_none, at) => drawn[at] ?? 'a',
      );
      const row = Object.fromEntries(args.map((value, at) => [`f${at}`, value]));
      const ofFields = await outcome({ [name]: args.map((_value, at) => `$f${at}`) }, row);
      const ofLiterals = await outcome({ [name]: args.map(($literal) => ({ $literal })) }, row);
      expect(ofLiterals).toBe(ofFields);
    }),
    { numRuns: 3000 },
  );
});
