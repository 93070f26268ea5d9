import { expect, test } from 'vitest';
import { resolveFragments } from '../fragments.ts';
import type { Json, JsonObject } from '../schema.ts';
import { lookupIn, texts } from '../testing/fragment-library.ts';

const motors = {
  f: {
    components: [
      {
        name: 'motor1',
        api: 'core:component:motor',
        model: 'm',
        attributes: { pins: { a: '12', pwm: '33' }, max_rpm: 150, tags: ['x'] },
        service_configs: [{ type: 'data_manager', attributes: { capture_methods: [{ capture_frequency_hz: 1 }] } }],
      },
    ],
  },
};

const withMods = (...mods: JsonObject[]): JsonObject => ({
  fragments: ['f'],
  fragment_mods: [{ fragment_id: 'f', mods }],
});

test('overrides change a fragment’s entries by dotted paths from the names in the fragment', () => {
  const { document, problems } = resolveFragments(
    withMods(
      {
        $set: {
          'components.motor1.name': 'my_motor',
          'components.motor1.attributes.max_rpm': 1818,
          'components.motor1.attributes.control.p': 2,
          'components.motor1.service_configs.0.attributes.capture_methods.0.capture_frequency_hz': 0.25,
          'data_retention_policy.days': 3,
        },
      },
      { $unset: { 'components.motor1.attributes.pins.pwm': 0 } },
      { $rename: { 'components.motor1.attributes.pins.a': 'components.motor1.attributes.pins.dir' } },
      { $inc: { 'components.motor1.attributes.max_rpm': 2 }, $push: { 'components.motor1.attributes.tags': 'y' } },
    ),
    lookupIn(motors),
  );
  expect(problems).toEqual([]);
  expect(document).toEqual({
    data_retention_policy: { days: 3 },
    components: [
      {
        name: 'my_motor',
        api: 'core:component:motor',
        model: 'm',
        attributes: { pins: { dir: '12' }, max_rpm: 1820, tags: ['x', 'y'], control: { p: 2 } },
        service_configs: [{ type: 'data_manager', attributes: { capture_methods: [{ capture_frequency_hz: 0.25 }] } }],
      },
    ],
  });
});

test('if one of several overrides is invalid, none is applied, and the fault is reported', () => {
  const document = withMods(
    { $set: { 'components.motor1.attributes.max_rpm': 1 } },
    { $set: { 'components.ghost.attributes.x': 1 } },
  );
  const resolved = resolveFragments(document, lookupIn(motors));
  expect(resolved.document['components']).toEqual(motors.f.components);
  expect(resolved.problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'fragment_mods[0].mods[1].$set.components.ghost.attributes.x: expected the name of one of the fragment\'s components, found "ghost.attributes.x": none of the overrides of fragment f is applied',
  ]);
  expect(texts(withMods({ $currentDate: { 'components.motor1.attributes.x': true } }), motors)[0]).toMatch(
    /^error fragment_mods\[0\]\.mods\[0\]\.\$currentDate: expected one of \$set, /,
  );
  expect(texts({ fragments: ['f'], fragment_mods: [{ fragment_id: 'other', mods: [] }] }, motors)).toEqual([
    'warning fragment_mods[0].fragment_id: expected the id of a fragment that is imported here, found "other": it has no effect',
  ]);
});

test('overrides of many entries, and many overrides of one entry, find each by its name', () => {
  const names = Array.from({ length: 30_000 }, (_, n) => `c${n}`);
  const f = { components: names.map((name) => ({ name, on: 0 })) };
  const paths = (step: string, to: Json): JsonObject =>
    Object.fromEntries(names.slice(1).map((name) => [`components.p-${name}${step}`, to]));
  const document = {
    fragments: [{ id: 'f', prefix: 'p' }],
    fragment_mods: [{ fragment_id: 'f', mods: [{ $set: paths('.on', 1) }, { $unset: paths('', '') }] }],
  };
  const resolved = resolveFragments(document, lookupIn({ f }));
  expect(resolved.problems).toEqual([]);
  expect(resolved.document['components']).toEqual([{ name: 'p-c0', on: 0 }]);
});

test('an entry is addressed by the longest matching name; of two entries with the same name, the first', () => {
  const entry = (name: string, of: string): JsonObject => ({ name, of });
  const list = [entry('a', '1'), entry('a.b', '2'), entry('a', '3'), entry('p-a', '4')];
  const resolved = resolveFragments(
    {
      fragments: [{ id: 'f', prefix: 'p' }],
      fragment_mods: [
        {
          fragment_id: 'f',
          mods: [
            { $set: { 'components.a.b.of': 'longest', 'components.a.of': 'first' } },
            { $set: { 'components.p-a.b.seen': true, 'components.p-a.seen': true } },
          ],
        },
      ],
    },
    lookupIn({ f: { components: list } }),
  );
  expect(resolved.document['components']).toEqual([
    { name: 'p-a', of: 'first', seen: true },
    { name: 'p-a.b', of: 'longest', seen: true },
    { name: 'p-a', of: '3' },
    { name: 'p-p-a', of: '4' },
  ]);
});

test('$addToSet, $pull and $pullAll compare long lists as JSON, whatever the order of keys', () => {
  const item = (n: number): JsonObject => ({ n, kind: 'k' });
  const turned = (n: number): JsonObject => ({ kind: 'k', n });
  const many = Array.from({ length: 60_000 }, (_, n) => n);
  const f = { components: [{ name: 'a', list: many.map(item) }] };
  const path = 'components.a.list';
  const added = withMods({ $addToSet: { [path]: { $each: [...many.map(turned), turned(-1), turned(-1)] } } });
  expect(resolveFragments(added, lookupIn({ f })).document['components']).toEqual([
    { name: 'a', list: [...many, -1].map(item) },
  ]);
  const pulled = withMods({ $pull: { [path]: { n: 5 } } }, { $pullAll: { [path]: many.slice(1).map(turned) } });
  expect(resolveFragments(pulled, lookupIn({ f })).document['components']).toEqual([{ name: 'a', list: [item(0)] }]);
});

test.each(['$push', '$addToSet', '$pull', '$pop'])('repeated %s of a long list is refused', (operator) => {
  const f = { components: [{ name: 'a', list: Array.from({ length: 50_000 }, (_, n) => n) }] };
  const mod = { [operator]: { 'components.a.list': 1 } };
  const mods = Array.from({ length: 20_000 }, () => mod);
  const resolved = resolveFragments(withMods(...mods), lookupIn({ f }));
  expect(resolved.problems).toMatchObject([
    { level: 'error', message: expect.stringMatching(/at most \d+ characters/) },
  ]);
});

test('overrides cannot nest values without limit', () => {
  const deep = Array.from({ length: 100_000 }, () => 'a').join('.');
  expect(texts(withMods({ $set: { [`components.motor1.${deep}`]: 1 } }), motors)).toEqual([
    expect.stringContaining('expected a path of at most 150 steps, found more'),
  ]);
  const inside = (key: string): string => `components.motor1.${key}.${Array(140).fill('x').join('.')}`;
  const renames = Array.from({ length: 200 }, (_, n) => ({
    $rename: { [`components.motor1.k${n}`]: inside(`k${n + 1}`) },
  }));
  const told = texts(withMods({ $set: { [inside('k0')]: 1 } }, ...renames), motors);
  expect(told).toEqual([expect.stringContaining('expected at most 150 levels of nesting')]);
});

test('an override of a prototype is refused, and a key of that name stays a key', () => {
  const hostile = JSON.parse('{"components":[{"name":"__proto__","attributes":{"__proto__":{"polluted":1}}}]}');
  const { document } = resolveFragments({ fragments: ['f'] }, lookupIn({ f: hostile }));
  expect(JSON.stringify(document)).toBe(JSON.stringify(hostile));
  expect(texts(withMods({ $set: { '__proto__.polluted': 1 } }), motors)[0]).toContain('expected a dotted path');
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});
