/** Random readings: some leaves keep to one kind of value, others mix kinds. */
import { BsonDocument, type BsonValue } from '@platform/query';
import type { Random } from './random.ts';

/** Leaves below `data.readings`. Some differ only in case, some look like paths or operators. */
export const leaves = ['t', 'h', 'n', 's', 'b', 'T', 'é', 'o.x', 'o.y', 'o.deep.z', 'mix', 'list', 'late'] as const;
export type Leaf = (typeof leaves)[number];

const oddNames = ['a.b', '$c', '', '0', '__proto__', 'x'.repeat(80)];
export const texts = ['', 'a', 'b', 'B', 'ab', 'é', 'e\u0301', '\u{1f600}', '\uffff', 'z', 'nan', '12', 'a'.repeat(70)];

const habits = {
  small: (random: Random) => random.int(8),
  cents: (random: Random) => random.int(4_000) / 100,
  halves: (random: Random) => random.int(64) / 2 - 16,
  wide: (random: Random) => (random.next() - 0.5) * 10 ** random.int(20),
  huge: (random: Random) => random.pick([2 ** 53, 2 ** 53 + 2, 1e300, -1e300, 1.7e308, -1.7e308, 5e-324, 1, 0.1]),
  odd: (random: Random) => random.pick([Number.NaN, Infinity, -Infinity, -0, 0, 1, 2.5]),
  text: (random: Random) => random.pick(texts),
  bool: (random: Random) => random.chance(0.5),
  null: () => null,
  array: (random: Random) => random.list(0, 3, () => scalar(random)),
  objects: (random: Random) => random.list(0, 2, () => BsonDocument.of({ x: random.int(5), y: scalar(random) })),
  object: (random: Random) => (random.chance(0.4) ? new BsonDocument() : BsonDocument.of({ x: scalar(random) })),
} as const satisfies Record<string, (random: Random) => BsonValue>;
type Habit = keyof typeof habits;

const numeric: readonly Habit[] = ['small', 'cents', 'halves'];
const natural: Readonly<Record<Leaf, readonly Habit[]>> = {
  t: ['cents'],
  h: ['halves', 'small'],
  n: ['small'],
  s: ['text'],
  b: ['bool'],
  T: ['small', 'text'],
  é: ['halves'],
  'o.x': numeric,
  'o.y': ['text'],
  'o.deep.z': ['cents'],
  mix: ['small', 'text', 'bool', 'null', 'array', 'object', 'odd'],
  list: ['array', 'objects'],
  late: ['small'],
};

/** Properties of the readings in a time range. */
export interface Habits {
  readonly leaves: ReadonlyMap<Leaf, { readonly kinds: readonly Habit[]; readonly missing: number }>;
  /** Whether they have names that cannot be paths, fields that may or may not be objects, and any order of fields. */
  readonly wild: boolean;
}

/** @param disorder from 0, where each leaf has only one kind, to 1 */
export function randomHabits(random: Random, disorder: number): Habits {
  const all = Object.keys(habits) as Habit[];
  const described = leaves.map((leaf) => {
    const kinds = random.chance(disorder) ? random.some(all, 1, 4) : natural[leaf];
    const missing = leaf === 'late' ? random.pick([0, 1]) : random.chance(0.3) ? 0.3 : 0;
    return [leaf, { kinds: random.chance(0.2) ? [...kinds, 'null' as const] : kinds, missing }] as const;
  });
  return { leaves: new Map(described), wild: random.chance(disorder) };
}

/** @param canary a text that only the rows of one machine contain */
export function randomReadings(random: Random, { leaves: described, wild }: Habits, canary: string): BsonDocument {
  const readings = new BsonDocument();
  const order = wild ? random.shuffled([...described]) : described;
  for (const [leaf, { kinds, missing }] of order) {
    if (!random.chance(missing)) put(readings, leaf.split('.'), habits[random.pick(kinds)](random));
  }
  readings.set('canary', canary);
  if (wild && random.chance(0.3)) readings.set(random.pick(oddNames), scalar(random));
  if (wild && random.chance(0.2)) readings.set('o', random.pick(['text', 3, null, [], [BsonDocument.of({ x: 1 })]]));
  if (random.chance(0.1)) readings.set('place', [random.int(20) / 10, random.int(20) / 10]);
  return wild && random.chance(0.05) ? new BsonDocument() : BsonDocument.of({ readings });
}

/** A random value like those of leaves, for comparisons. */
export function randomLeafValue(random: Random): BsonValue {
  return habits[
    random.pick([...numeric, ...numeric, 'text', 'bool', 'null', 'odd', 'huge', 'object', 'array'] as const)
  ](random);
}

function scalar(random: Random): BsonValue {
  return habits[random.pick(['small', 'halves', 'text', 'bool', 'null'] as const)](random);
}

function put(document: BsonDocument, [name = '', ...rest]: readonly string[], value: BsonValue): void {
  if (rest.length === 0) {
    document.set(name, value);
    return;
  }
  const below = document.get(name);
  const inner = below instanceof BsonDocument ? below : new BsonDocument();
  document.set(name, inner);
  put(inner, rest, value);
}
