import { BsonDocument, type BsonValue, encodeBson } from '@platform/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { childrenOf, randomReading, valueAt } from '../../testing/random-readings.ts';
import { kind, type LeafFacts, leafColumns } from '../files/file-facts.ts';
import { chooseColumns, columnLimits, columnOfPath, describeLeaves, newColumnBudget } from './describe-leaves.ts';
import { gatherLeaves } from './gather-leaves.ts';
import { createLeafTree, leafLimits } from './leaf-tree.ts';
import { createWalker } from './walk-documents.ts';

function leavesOf(documents: readonly BsonDocument[]): LeafFacts[] {
  return leavesOfBytes(documents.map((each) => encodeBson(each)));
}

function leavesOfBytes(documents: readonly Uint8Array[]): LeafFacts[] {
  const tree = createLeafTree();
  const walker = createWalker(tree);
  const gathered = gatherLeaves();
  documents.forEach((bytes, row) => {
    walker.entries.count = 0;
    // Placed after other bytes, as in a run of documents.
    const run = Buffer.concat([new Uint8Array(3), bytes]);
    walker.walk(run, 3, run.length, row);
    gathered.add(walker.entries, run);
  });
  return chooseColumns(
    describeLeaves(tree, gathered, documents.length),
    documents.length,
    newColumnBudget(),
    () => true,
  ).map(({ of: _, textBytes: __, ...facts }) => facts);
}

function kindOf(value: BsonValue | undefined): number {
  if (value === undefined) return kind.missing;
  if (value === null) return kind.null;
  if (typeof value === 'number') return kind.double;
  if (typeof value === 'string') return kind.string;
  if (typeof value === 'boolean') return kind.bool;
  return Array.isArray(value) ? kind.array : kind.object;
}

/** Greatest power of two that divides a finite nonzero value. */
function lowestBit(value: number): number {
  let bit = 0;
  let rest = value;
  for (; !Number.isInteger(rest); rest *= 2) bit--;
  for (; rest % 2 === 0; rest /= 2) bit++;
  return bit;
}

function expectFacts(leaves: readonly LeafFacts[], documents: readonly BsonDocument[]): void {
  for (const leaf of leaves) {
    const values = documents.map((each) => valueAt(each, leaf.path));
    expect(leaf.kinds).toBe(values.reduce<number>((bits, value) => bits | kindOf(value), 0));
    expect(leaf.rows).toBe(values.filter((value) => value !== undefined).length);
    const numbers = values.filter((value) => typeof value === 'number');
    const finite = numbers.filter(Number.isFinite);
    expect(leaf.number).toEqual(
      numbers.length === 0
        ? undefined
        : {
            min: Math.min(...finite) + 0,
            max: Math.max(...finite) + 0,
            lowestBit: finite.some((value) => value !== 0)
              ? Math.min(...finite.filter((value) => value !== 0).map(lowestBit))
              : 0,
            negativeZero: numbers.some((value) => Object.is(value, -0)),
            nonFinite: finite.length < numbers.length,
          },
    );
    const texts = values.filter((value) => typeof value === 'string').map((value) => Buffer.from(value));
    expect(leaf.text === undefined).toBe(texts.length === 0);
    for (const value of texts) {
      const { min = '', max = null } = leaf.text ?? {};
      expect(Buffer.compare(Buffer.from(min), value)).toBeLessThanOrEqual(0);
      if (max !== null) expect(Buffer.compare(value, Buffer.from(max))).toBeLessThanOrEqual(0);
      if (texts.length === 1 && value.length <= 64) expect([min, max]).toEqual([String(value), String(value)]);
    }
    const names = childrenOf({ leaves }, leaf).map(({ path }) => path.at(-1) as string);
    for (const value of values) {
      if (!(value instanceof BsonDocument)) continue;
      const own = [...value.keys()];
      if (leaf.complete === true) expect(own.filter((each) => !names.includes(each))).toEqual([]);
      if (leaf.ordered === true) expect(own).toEqual(names.filter((each) => value.has(each)));
    }
  }
}

test('facts of leaves match random documents of mixed kinds', () => {
  let ordered = 0;
  fc.assert(
    fc.property(fc.array(randomReading, { minLength: 1, maxLength: 30 }), (documents) => {
      const leaves = leavesOf(documents);
      expectFacts(leaves, documents);
      if (leaves[0]?.ordered === true && leaves.length > 5) ordered++;
    }),
    { numRuns: 300 },
  );
  expect(ordered).toBeGreaterThan(5);
});

const reading = (fields: Record<string, BsonValue>): BsonDocument => new BsonDocument(Object.entries(fields));
const names = (leaves: readonly LeafFacts[]): string[] => leaves.slice(1).map(({ path }) => path.join('/'));

test('an order of names that holds in every row is found, whatever the order of the rows', () => {
  const rows = [reading({ a: 1, c: 1 }), reading({ b: 1, c: 1 }), reading({ a: 1, b: 1 }), reading({ c: 1, d: 1 })];
  for (const order of [rows, rows.toReversed()]) {
    const leaves = leavesOf(order);
    expect(leaves[0]).toMatchObject({ complete: true, ordered: true });
    expect(names(leaves)).toEqual(['a', 'b', 'c', 'd']);
  }
  expect(leavesOf([...rows, reading({ d: 1, a: 1 })])[0]).toMatchObject({ complete: true, ordered: false });
});

test('names that no path can express stay in the document, and their parent is marked incomplete', () => {
  for (const odd of ['a.b', '$a', '', 'n'.repeat(leafLimits.keyBytes)]) {
    const leaves = leavesOf([reading({ a: 1, deep: reading({ [odd]: 1, x: 1 }) })]);
    expect(names(leaves)).toEqual(['a', 'deep', 'deep/x']);
    expect(leaves.map(({ complete }) => complete)).toEqual([true, undefined, false, undefined]);
    expect(leaves.map(({ ordered }) => ordered)).toEqual([true, undefined, false, undefined]);
  }
});

test('a file has a limited number of leaf columns: leaves in most rows get them, the others keep their facts', () => {
  const common = Array.from({ length: 200 }, (_, i) => [`common${i}`, i] as [string, BsonValue]);
  const rare = Array.from({ length: 200 }, (_, i) => [`rare${i}`, i] as [string, BsonValue]);
  const leaves = leavesOf([new BsonDocument([...rare, ...common]), new BsonDocument(common)]);
  const columns = leaves.flatMap((leaf) => Object.values(leafColumns(leaf)));
  expect(columns.length).toBe(columnLimits.columns);
  expect(new Set(columns).size).toBe(columns.length);
  const without = leaves
    .filter(({ path, column }) => path.length > 0 && column === undefined)
    .map(({ path }) => path.join());
  expect(without.every((name) => name.startsWith('rare'))).toBe(true);
  expect(leaves.every(({ path, number }) => path.length === 0 || number !== undefined)).toBe(true);
});

test('a sender that keeps inventing names gets a limited number of leaves', () => {
  const rows = Array.from(
    { length: 30 },
    (_, row) => new BsonDocument(Array.from({ length: 100 }, (_, i) => [`n${row}-${i}`, i])),
  );
  const leaves = leavesOf(rows);
  expect(leaves.length).toBe(leafLimits.leaves);
  expect(leaves[0]).toMatchObject({ complete: false, ordered: false });
  let deep = reading({ x: 1 });
  for (let i = 0; i < 40; i++) deep = reading({ down: deep });
  const down = leavesOf([deep]);
  expect(down.length).toBe(1 + leafLimits.depth);
  expect(down.at(-1)).toMatchObject({ kinds: kind.object, complete: false });
});

test('after bytes that are not a valid document, nothing is known about any leaf', () => {
  const good = encodeBson(reading({ a: 1, b: reading({ c: 'text', d: [1, null] }), e: true }));
  const column = columnOfPath([]);
  const unknown: LeafFacts[] = [{ path: [], kinds: kind.object, rows: 3, complete: false, ordered: false, column }];
  const int32 = good.slice();
  int32[4] = 0x10;
  const twice = Buffer.concat([good.subarray(0, 15), good.subarray(4)]);
  twice.writeInt32LE(twice.length, 0);
  for (const bad of [int32, twice, good.subarray(0, 20), new Uint8Array(0)])
    expect(leavesOfBytes([good, bad, good])).toEqual(unknown);
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(255), (place, byte) => {
      const damaged = good.slice();
      damaged[place] = byte;
      const leaves = leavesOfBytes([good, damaged, good]);
      expect(leaves.length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});
