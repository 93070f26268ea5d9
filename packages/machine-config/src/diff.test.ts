import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diff, diffLines } from './diff.ts';
import type { Json } from './schema.ts';
import { applyDiff } from './testing/apply-diff.ts';

const json = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as Json);
const name = fc.constantFrom('arm', 'base', 'cam', 'gps', '__proto__', '');
const entry = fc.record({ name, attributes: json }, { requiredKeys: ['name'] });
const document = fc.record(
  {
    components: fc.oneof(
      fc.uniqueArray(entry, { selector: (each) => each.name, maxLength: 5 }),
      fc.array(entry, { maxLength: 4 }),
    ),
    tags: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 4 }),
    log: fc.array(json, { maxLength: 4 }),
    rest: json,
  },
  { requiredKeys: [] },
) as unknown as fc.Arbitrary<Json>;
// As parsed from text: no minus zero, no prototypes.
const plain = (value: Json): Json => JSON.parse(JSON.stringify(value)) as Json;

test('applying the changes between two documents turns the first into the second, whatever they contain', () => {
  fc.assert(
    fc.property(fc.oneof(document, json), fc.oneof(document, json), (a, b) => {
      const [before, after] = [plain(a), plain(b)];
      expect(applyDiff(before, diff(before, after))).toEqual(after);
    }),
    { numRuns: 400 },
  );
});

test('a list that was shuffled, shortened and extended is reproduced, and no change contains unchanged entries', () => {
  const list = fc.uniqueArray(fc.record({ name: fc.string(), v: fc.nat(3) }), { selector: (each) => each.name });
  fc.assert(
    fc.property(
      list.chain((all) => fc.tuple(fc.shuffledSubarray(all), fc.shuffledSubarray(all))),
      ([before, after]) => {
        const [a, b] = [plain(before), plain(after)];
        expect(applyDiff(a, diff(a, b))).toEqual(b);
      },
    ),
  );
  fc.assert(
    fc.property(json, (value) => {
      expect(diff(plain(value), plain(value))).toEqual([]);
    }),
  );
});

test('an inserted, moved or renamed component is one change, and its neighbours are unchanged', () => {
  const arm = { name: 'arm', attributes: { speed: 1 } };
  const cam = { name: 'cam', attributes: { fps: 30 } };
  const gps = { name: 'gps', attributes: { baud: 9_600 } };
  const lines = (before: Json[], after: Json[]) => diffLines(diff({ components: before }, { components: after }));
  expect(lines([arm, cam], [gps, arm, cam])).toEqual([
    '+ components[0] (gps): {"name":"gps","attributes":{"baud":9600}}',
  ]);
  expect(lines([arm, cam, gps], [cam, gps, arm])).toEqual(['~ components[0] (arm): moved to position 2']);
  expect(lines([arm, cam], [arm, { ...cam, name: 'front' }])).toEqual([
    '~ components[1].name (cam): renamed, "cam" → "front"',
  ]);
  expect(lines([arm, cam], [{ ...arm, attributes: { speed: 2 } }])).toEqual([
    '~ components[0].attributes.speed (arm): 1 → 2',
    '- components[1] (cam): {"name":"cam","attributes":{"fps":30}}',
  ]);
});

test('D6 lines of changes show no secrets: neither under secret-looking keys, nor in auth handlers, nor in URLs', () => {
  const secret = (text: string): Json => ({
    remotes: [{ name: 'r', auth: { credentials: { type: 'api-key', payload: text } }, secret: text }],
    auth: { handlers: [{ type: 'api-key', config: { 'key-id': text } }] },
    services: [{ name: 'd', attributes: { docdb_capture_config: { uri: `mongodb://u:${text}@h/` }, apiKey: text } }],
    components: [
      { name: 'c', attributes: { password: text, tokens: [text], nested: { pin: { secret: { a: text } } } } },
    ],
  });
  const empty = { components: [], services: [], remotes: [], auth: {} };
  const all = [
    ...diffLines(diff(secret('CANARY-1'), secret('CANARY-2'))),
    ...diffLines(diff(empty, secret('CANARY-3'))),
    ...diffLines(diff(secret('CANARY-4'), empty)),
  ];
  expect(all.length).toBeGreaterThan(10);
  expect(all.join('\n')).not.toContain('CANARY');
});

test('a line stays short, whatever changed', () => {
  const long = 'x'.repeat(100_000);
  for (const line of diffLines(diff({ a: long, [long]: 1 }, { a: { b: long }, c: [long] })))
    expect(line.length).toBeLessThan(400);
});

const many = 20_000;
const renamed = (prefix: string, alike: boolean): Json[] =>
  Array.from({ length: many }, (_, n) => ({
    name: `${prefix}${n}`,
    attributes: alike ? { n: 1 } : { [`k${n}`]: n, a: 1 },
  }));

// Comparing every pair took minutes here.
test('twenty thousand renamed components are one rename each, even if their neighbours were shuffled or are identical', () => {
  for (const alike of [false, true]) {
    const before = { components: renamed('a', alike) };
    const after = { components: renamed('b', alike) };
    const changes = diff(before, after);
    expect(changes.length).toBe(many);
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(['renamed']));
    expect(applyDiff(before, changes)).toEqual(after);
  }
  const before = { components: renamed('a', false) };
  const backwards = { components: renamed('b', false).toReversed() };
  const changes = diff(before, backwards);
  expect(Map.groupBy(changes, ({ kind }) => kind).get('renamed')).toHaveLength(many);
  expect(applyDiff(before, changes)).toEqual(backwards);
});

test('entries that differ only in their names are matched in order, and numbers that JSON cannot represent are distinguished', () => {
  const entry = (name: string, n: number): Json => ({ name, n, b: 1 });
  const lines = (before: Json[], after: Json[]) => diffLines(diff({ components: before }, { components: after }));
  expect(lines([entry('a', 1), entry('b', 1)], [entry('c', 1), { b: 1, n: 1, name: 'd' }])).toEqual([
    '~ components[0].name (a): renamed, "a" → "c"',
    '~ components[1].name (b): renamed, "b" → "d"',
  ]);
  expect(lines([entry('a', Infinity)], [{ name: 'c', n: null, b: 1 }])).toHaveLength(2);
});

test('lists of two hundred thousand changed, added or removed values are reported completely', () => {
  const numbers = (from: number): Json[] => Array.from({ length: 200_000 }, (_, n) => from + n);
  expect(diff({ list: numbers(0) }, { list: numbers(1_000_000) })).toHaveLength(200_000);
  expect(diff({ list: [] }, { list: numbers(0) })).toHaveLength(200_000);
  expect(applyDiff({ list: numbers(0) }, diff({ list: numbers(0) }, { list: [] }))).toEqual({ list: [] });
});
