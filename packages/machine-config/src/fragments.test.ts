import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultFragmentLimits, type FoundFragment, type Lookup, resolveFragments } from './fragments.ts';
import { parse } from './parse.ts';
import type { Json, JsonObject } from './schema.ts';

/** Fragments by id, all of revision 1; `id@version` for a pinned one. */
const lookupIn =
  (fragments: Readonly<Record<string, JsonObject>>): Lookup =>
  (id, version): FoundFragment | 'unknown' | 'unknown_version' => {
    const config = fragments[version === '' ? id : `${id}@${version}`];
    if (config !== undefined) return { revision: version === '' ? '1' : version, config };
    return Object.hasOwn(fragments, id) ? 'unknown_version' : 'unknown';
  };

const camera = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  api: 'core:component:camera',
  model: 'acme:cam:usb',
  ...more,
});

const texts = (document: JsonObject, fragments: Readonly<Record<string, JsonObject>>): string[] =>
  resolveFragments(document, lookupIn(fragments)).problems.map(
    ({ level, path, message }) => `${level} ${path}: ${message}`,
  );

test('a document without imports is its own effective document, the very same object', () => {
  const document = { components: [camera('a')], fragments: [] };
  expect(resolveFragments(document, lookupIn({})).document).toBe(document);
});

test('entries of a fragment follow the own ones, whose positions stay, and it is told where they came from', () => {
  const { document, origins, used, problems } = resolveFragments(
    { components: [camera('own')], fragments: ['f'], debug: true },
    lookupIn({
      f: { components: [camera('shared')], network: { a: 1 }, fragments: [{ id: 'g' }] },
      g: { debug: false },
    }),
  );
  expect(document).toEqual({ debug: true, network: { a: 1 }, components: [camera('own'), camera('shared')] });
  const origin = { fragmentId: 'f', revision: '1', viaFragmentId: 'f' };
  expect(Object.fromEntries(origins)).toEqual({ 'components[1]': origin, network: origin });
  expect(used).toEqual([
    { fragmentId: 'f', version: '', revision: '1', direct: true },
    { fragmentId: 'g', version: '', revision: '1', direct: false },
  ]);
  expect(problems).toEqual([]);
});

test('D24 the retention policy of a part wins over that of its fragments, a fragment over those in it, a later import over an earlier one', () => {
  const fragments = {
    short: { data_retention_policy: { days: 1 } },
    long: { data_retention_policy: { days: 90 }, fragments: ['short'] },
  };
  const daysOf = (document: JsonObject): Json | undefined =>
    resolveFragments(document, lookupIn(fragments)).document['data_retention_policy'];
  expect(daysOf({ data_retention_policy: { days: 7 }, fragments: ['long'] })).toEqual({ days: 7 });
  expect(daysOf({ fragments: ['long'] })).toEqual({ days: 90 });
  expect(daysOf({ fragments: ['long', 'short'] })).toEqual({ days: 1 });
});

test('an entry that another covers is named with its fragment', () => {
  const fragments = { f: { components: [camera('cam')] }, g: { components: [camera('cam', { notes: 'g' })] } };
  const { document, problems } = resolveFragments({ fragments: ['f', 'g'] }, lookupIn(fragments));
  expect(document['components']).toEqual([camera('cam', { notes: 'g' })]);
  expect(problems).toEqual([
    {
      path: 'fragments[1]',
      level: 'warning',
      message: 'components "cam" of fragment f is not used: fragment g has one of this name',
    },
  ]);
});

test('variables take the given value, else the default, in fragments inside as well; a missing one is an error with its path', () => {
  const fragments = {
    f: {
      components: [
        camera('cam', {
          attributes: {
            path: { $variable: { name: 'path' } },
            fps: { $variable: { name: 'fps', type: 'number', default_value: 30 } },
          },
        }),
      ],
      fragments: [{ id: 'g', variables: { level: { $variable: { name: 'level', default_value: 'warn' } } } }],
    },
    g: { log: [{ pattern: '*', level: { $variable: { name: 'level' } } }] },
  };
  const { document, problems } = resolveFragments(
    { fragments: [{ id: 'f', variables: { path: '/dev/video0' } }] },
    lookupIn(fragments),
  );
  expect(problems).toEqual([]);
  expect(document).toEqual({
    components: [camera('cam', { attributes: { path: '/dev/video0', fps: 30 } })],
    log: [{ pattern: '*', level: 'warn' }],
  });
  expect(texts({ fragments: [{ id: 'f', variables: { fps: 'fast', colour: 'red' } }] }, fragments)).toEqual([
    'error fragments[0].variables.path: expected a value for the variable "path", found none (at components[0].attributes.path of fragment f)',
    'error fragments[0].variables.fps: expected number, found "fast" (at components[0].attributes.fps of fragment f)',
    'warning fragments[0].variables.colour: expected a variable of the fragment, found one that it does not use',
  ]);
});

test('a prefix goes before every name that a fragment brings, and before references to them', () => {
  const fragments = {
    arm: {
      components: [
        camera('cam', { depends_on: ['board', 'core:component:board/board', 'elsewhere'] }),
        { name: 'board', api: 'core:component:board', model: 'm', frame: { parent: 'cam' } },
        {
          name: 'motor',
          api: 'core:component:motor',
          model: 'm',
          attributes: { board: 'board', pins: ['board', 'a'] },
        },
      ],
      jobs: [{ name: 'home', resource: 'motor', method: 'board' }],
      triggers: [{ name: 't', event: { conditional: { data_capture_method: 'camera:cam:Readings' } } }],
      maintenance: { sensor_name: 'core:component:board/board', maintenance_allowed_key: 'k' },
      modules: [{ name: 'mod' }],
    },
  };
  const { document } = resolveFragments(
    {
      fragments: [
        { id: 'arm', prefix: 'left' },
        { id: 'arm', prefix: 'right' },
      ],
    },
    lookupIn(fragments),
  );
  const components = document['components'] as readonly JsonObject[];
  expect(components.map((each) => String(each['name'])).toSorted()).toEqual([
    'left-board',
    'left-cam',
    'left-motor',
    'right-board',
    'right-cam',
    'right-motor',
  ]);
  const named = (name: string): JsonObject | undefined => components.find((each) => each['name'] === name);
  expect(named('left-cam')?.['depends_on']).toEqual(['left-board', 'core:component:board/left-board', 'elsewhere']);
  expect(named('right-board')?.['frame']).toEqual({ parent: 'right-cam' });
  expect(named('left-motor')?.['attributes']).toEqual({ board: 'left-board', pins: ['left-board', 'a'] });
  expect(document['jobs']).toContainEqual({ name: 'left-home', resource: 'left-motor', method: 'board' });
  expect(document['triggers']).toContainEqual({
    name: 'right-t',
    event: { conditional: { data_capture_method: 'camera:right-cam:Readings' } },
  });
  expect(document['maintenance']).toEqual({
    sensor_name: 'core:component:board/right-board',
    maintenance_allowed_key: 'k',
  });
  expect(document['modules']).toEqual([{ name: 'mod' }]);
});

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

test('overrides change what a fragment brings, by dotted paths from the names that the fragment gives', () => {
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

test('of overrides with one fault none is applied, and the fault is named', () => {
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
    'warning fragment_mods[0].fragment_id: expected the id of a fragment that is imported here, found "other": nothing is changed by it',
  ]);
});

test('overrides of many entries, and of one entry many times, find each by its name', () => {
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

test('an entry is addressed by the longest name that fits, and by the first of two with one name', () => {
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

test.each(['$push', '$addToSet', '$pull', '$pop'])('%s of a long list again and again is a bomb', (operator) => {
  const f = { components: [{ name: 'a', list: Array.from({ length: 50_000 }, (_, n) => n) }] };
  const mod = { [operator]: { 'components.a.list': 1 } };
  const mods = Array.from({ length: 20_000 }, () => mod);
  const resolved = resolveFragments(withMods(...mods), lookupIn({ f }));
  expect(resolved.problems).toMatchObject([
    { level: 'error', message: expect.stringMatching(/at most \d+ characters/) },
  ]);
});

test('overrides do not nest values without end', () => {
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

test('unknown fragments, unknown versions, circles and too deep nesting are errors of their kind at their import', () => {
  const fragments: Record<string, JsonObject> = { loop: { fragments: ['loop2'] }, loop2: { fragments: ['loop'] } };
  for (let level = 1; level <= 6; level++) fragments[`n${level}`] = level === 6 ? {} : { fragments: [`n${level + 1}`] };
  const resolved = resolveFragments(
    { fragments: ['gone', { id: 'n6', version: 'beta' }, 'loop', 'n1', 'n2', 7, { id: 'n6', version: true }] },
    lookupIn(fragments),
  );
  expect(resolved.problems.map(({ path, fault, message }) => `${path} ${fault ?? ''}: ${message}`)).toEqual([
    'fragments[5] child_id_invalid: expected the id of a fragment, or an object with "id", found 7',
    'fragments[6].version : expected a revision or a tag, found true',
    'fragments[0] no_access: expected the id of a fragment that may be used here, found "gone"',
    'fragments[1].version : expected a revision or a tag of fragment n6, found "beta"',
    'fragments[2] cycle: in fragment loop2, at fragments[0]: expected no circle, found loop → loop2 → loop',
    'fragments[3] nesting_limit: in fragment n5, at fragments[0]: expected at most 5 fragments inside each other, found more',
  ]);
});

test('a bomb of fragments that import each other many times ends in one clear error', () => {
  const wide = (id: string): JsonObject => ({
    fragments: Array.from({ length: 100 }, (_, at) => ({ id, prefix: `${at}` })),
  });
  const fragments = { a: wide('b'), b: wide('c'), c: wide('d'), d: wide('e'), e: { components: [camera('x')] } };
  const { document, problems } = resolveFragments({ fragments: ['a'], debug: true }, lookupIn(fragments));
  expect(document).toEqual({ debug: true });
  expect(problems).toEqual([
    {
      path: 'fragments',
      level: 'error',
      message: 'expected at most 500 imports with all that they import themselves, found more: nothing was imported',
    },
  ]);
  const long = { f: { notes: 'x'.repeat(1_000_000) } };
  const many = { fragments: Array.from({ length: 100 }, () => 'f') };
  expect(texts(many, long).at(-1)).toContain('expected fragments of at most 16777216 characters');
});

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const names = fc.constantFrom('a', 'b', 'c');
const entry = fc.record({ name: names, attributes: json }) as fc.Arbitrary<JsonObject>;
const config: fc.Arbitrary<JsonObject> = fc.record(
  {
    components: fc.array(entry, { maxLength: 3 }),
    network: json,
    data_retention_policy: json,
    fragments: fc.oneof(
      json,
      fc.array(
        fc.oneof(
          names,
          fc.record({ id: names, prefix: fc.constantFrom('', 'p'), variables: fc.dictionary(names, json) }),
        ),
        { maxLength: 3 },
      ),
    ),
    fragment_mods: fc.oneof(
      json,
      fc.array(
        fc.record({
          fragment_id: names,
          mods: fc.array(
            fc.dictionary(
              fc.constantFrom('$set', '$unset', '$rename', '$push', '$pull', '$inc', '$nope'),
              fc.dictionary(fc.constantFrom('components.a.attributes.x', 'network.y', 'components.b', 'a..b'), json),
            ),
            { maxLength: 2 },
          ),
        }),
        { maxLength: 2 },
      ),
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;
const library = fc.record({ a: config, b: config, c: config });

test('resolving anything never throws, is the same every time, and its own values always win', () => {
  fc.assert(
    fc.property(config, library, (document, fragments) => {
      const once = resolveFragments(document, lookupIn(fragments));
      expect(resolveFragments(document, lookupIn(fragments))).toEqual(once);
      // A retention that is ignored does not win: its own test is in data-policies.test.ts.
      const { fragments: _, fragment_mods: __, data_retention_policy: ___, components = [], ...values } = document;
      if (once.document === document) return;
      for (const [key, value] of Object.entries(values)) expect(once.document[key]).toEqual(value);
      const own = components as readonly Json[];
      expect((once.document['components'] as readonly Json[] | undefined)?.slice(0, own.length) ?? []).toEqual(own);
      for (const path of once.origins.keys()) expect(path).toMatch(/^[a-z_]+(\[\d+\])?$/);
      expect(JSON.stringify(once.document).length).toBeLessThan(
        JSON.stringify(document).length + defaultFragmentLimits.maxCharacters * 2,
      );
      parse(once.document);
    }),
    { numRuns: 300 },
  );
});

test('resolving decoded JSON of any shape never throws', () => {
  fc.assert(
    fc.property(json, json, (document, fragment) => {
      resolveFragments(document as JsonObject, () => ({ revision: '1', config: fragment as JsonObject }));
      resolveFragments({ fragments: ['f'] }, () => ({ revision: '1', config: fragment as JsonObject }));
    }),
    { numRuns: 300 },
  );
});
