/** Random documents similar to readings: mixed kinds, names that are hard to shred, extreme numbers and texts. */
import { BsonDocument, type BsonValue } from '@platform/query';
import fc from 'fast-check';
import type { FileFacts, LeafFacts } from '../process/files/file-facts.ts';

const number = fc.oneof(
  fc.double(),
  fc.integer({ min: -40, max: 40 }).map((n) => n / 8),
  fc.constantFrom(0, -0, 1e300, 5e-324, 2 ** 60, 0.1),
);
const text = fc.oneof(
  fc.constantFrom('', 'ok', 'exactly 12 b', 'exactly 13 by', 'ünï', '\0', 'a\0b', '\u{10ffff}', '\ud7ff'),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ minLength: 60, maxLength: 70 }),
  fc.constantFrom('x', 'é', '€', '\u{1f600}').map((character) => character.repeat(70)),
);
const name = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('a', 'b', 'c', 'A', 'readings', 'ü', '0', '__proto__') },
  { weight: 1, arbitrary: fc.constantFrom('a.b', '$a', '', 'n'.repeat(300)) },
);
export const { document: randomReading } = fc.letrec<{ value: BsonValue; document: BsonDocument }>((tie) => ({
  value: fc.oneof(
    { weight: 6, arbitrary: number },
    { weight: 3, arbitrary: text },
    { weight: 1, arbitrary: fc.boolean() },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.array(tie('value') as fc.Arbitrary<BsonValue>, { maxLength: 3 }) },
    { weight: 2, arbitrary: tie('document') as fc.Arbitrary<BsonDocument> },
  ),
  document: fc
    .uniqueArray(fc.tuple(name, tie('value') as fc.Arbitrary<BsonValue>), { selector: ([key]) => key, maxLength: 5 })
    .map((fields) => new BsonDocument(fields)),
}));
/** The value at a path through documents. */
export function valueAt(value: BsonValue | undefined, path: readonly string[]): BsonValue | undefined {
  let found: BsonValue | undefined = value;
  for (const each of path) found = found instanceof BsonDocument ? found.get(each) : undefined;
  return found;
}

/** Leaves one level below another. */
export function childrenOf(facts: Pick<FileFacts, 'leaves'>, { path }: LeafFacts): LeafFacts[] {
  const key = JSON.stringify(path);
  return facts.leaves.filter(
    (leaf) => leaf.path.length === path.length + 1 && JSON.stringify(leaf.path.slice(0, -1)) === key,
  );
}
