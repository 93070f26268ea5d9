import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultFragmentLimits, resolveFragments } from './fragments.ts';
import { parse } from './parse.ts';
import type { Json, JsonObject } from './schema.ts';
import { lookupIn, texts } from './testing/fragment-library.ts';

const camera = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  api: 'core:component:camera',
  model: 'acme:cam:usb',
  ...more,
});

test('a document without imports is its own effective document, the very same object', () => {
  const document = { components: [camera('a')], fragments: [] };
  expect(resolveFragments(document, lookupIn({})).document).toBe(document);
});

test('entries of a fragment follow the document’s own entries, whose positions stay, and their origin is reported', () => {
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

test('D24 a part’s retention policy wins over its fragments’, a fragment’s over nested ones, a later import over an earlier one', () => {
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

test('an entry that another one replaces is reported with its fragment', () => {
  const fragments = { f: { components: [camera('cam')] }, g: { components: [camera('cam', { notes: 'g' })] } };
  const { document, problems } = resolveFragments({ fragments: ['f', 'g'] }, lookupIn(fragments));
  expect(document['components']).toEqual([camera('cam', { notes: 'g' })]);
  expect(problems).toEqual([
    {
      path: 'fragments[1]',
      level: 'warning',
      message: 'components "cam" of fragment f is not used: fragment g has one with the same name',
    },
  ]);
});

test('variables have the given value, otherwise the default, also in nested fragments; a missing value is an error with its path', () => {
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

test('a prefix is added to every name from a fragment, and to references to these names', () => {
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

test('unknown fragments, unknown versions, cycles and excessive nesting are specific errors at their import', () => {
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
    'fragments[2] cycle: in fragment loop2, at fragments[0]: expected no cycle, found loop → loop2 → loop',
    'fragments[3] nesting_limit: in fragment n5, at fragments[0]: expected at most 5 levels of nested fragments, found more',
  ]);
});

test('fragments that multiply by importing each other give a single clear error', () => {
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
      message: 'expected at most 500 imports including nested ones, found more: nothing was imported',
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

test('resolution never throws, is deterministic, and the document’s own values always win', () => {
  fc.assert(
    fc.property(config, library, (document, fragments) => {
      const once = resolveFragments(document, lookupIn(fragments));
      expect(resolveFragments(document, lookupIn(fragments))).toEqual(once);
      // An ignored retention does not win: data-policies.test.ts tests that.
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
