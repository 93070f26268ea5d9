import { expect, test } from 'vitest';
import { builtInModels } from './built-in-models.ts';
import { dependencyProblems } from './dependency-problems.ts';
import { parse } from './parse.ts';
import type { Json, JsonObject, MachineConfig, ResourceConfig } from './schema.ts';
import { at, method, part, told } from './testing/part-document.ts';

test('a name with invisible characters, or with ones that reverse text, is an error; joined letters and emoji are allowed', () => {
  const named = (name: string): string[] => told(part(method, { name }));
  for (const [name, found] of [
    ['pump\u202e1', 'U+202E in "pump<U+202E>1"'],
    ['a\u2066b\u2069', 'U+2066 in "a<U+2066>b<U+2069>"'],
    ['pump\u200b', 'U+200B in "pump<U+200B>"'],
    ['a\u2028b', 'U+2028 in "a<U+2028>b"'],
  ] as const)
    expect(named(name)).toEqual([
      `error components[0].name: expected a name without control characters and other invisible characters, found ${found}`,
    ]);
  for (const name of ['مي\u200cخواهم', 'क्\u200dष', '👩\u200d🔧', 'Pumpe Süd', 'ポンプ'])
    expect(named(name)).toEqual([]);
});

test('names have at most 255 bytes, and a list at most 100 tags of at most 255 bytes; others are reported with their path', () => {
  const tags = Array.from({ length: 103 }, (_, index) => `t${index}`);
  const { config, problems } = parse(part({ ...method, tags: [...tags.slice(0, 99), 'x'.repeat(256)] }, {}, { tags }));
  expect(problems.map(({ level, path, message }) => `${level} ${path}: ${message}`)).toEqual([
    `error ${at}.tags[99]: expected at most 255 bytes, found 256`,
    'error services[0].attributes.tags: expected at most 100 tags, found 103',
  ]);
  expect(config.services[0]?.attributes['tags']).toHaveLength(100);
  const named = (name: string) =>
    parse({ components: [{ name, api: 'core:component:sensor', model: 'a:b:c' }] }).problems;
  expect(named('é'.repeat(127))).toEqual([]);
  expect(named('é'.repeat(128))).toEqual([
    { path: 'components[0].name', level: 'error', message: 'expected at most 255 bytes, found 256' },
  ]);
});

test('paths to sync are absolute, and tags have letters, digits, underscores and dashes; invalid ones are omitted', () => {
  const attributes = { additional_sync_paths: ['/data', 'here', '~/there', 5], tags: ['a-b_1', 'two words', 'ü'] };
  const { config, problems } = parse(part({ ...method, tags: ['a:b'] }, {}, attributes));
  expect(problems.map(({ level, path, message }) => `${level} ${path}: ${message}`).toSorted()).toEqual([
    `error ${at}.tags[0]: expected a tag of letters, digits, underscores and dashes, found "a:b"`,
    'error services[0].attributes.additional_sync_paths[1]: expected an absolute path, found "here"',
    'error services[0].attributes.additional_sync_paths[3]: expected an absolute path, found 5',
    'error services[0].attributes.tags[1]: expected a tag of letters, digits, underscores and dashes, found "two words"',
    'error services[0].attributes.tags[2]: expected a tag of letters, digits, underscores and dashes, found "ü"',
  ]);
  expect(config.services[0]?.attributes).toEqual({ additional_sync_paths: ['/data', '~/there'], tags: ['a-b_1'] });
});

test('a built-in model that this version does not have is a warning; models of modules are not', () => {
  const models = builtInModels['core:component:sensor'] ?? [];
  expect(models.length).toBeGreaterThan(1);
  expect(told(part(method, { model: 'rdk:builtin:ghost' }))).toEqual([
    `warning components[0].model: expected a model that this platform's machine-server has (${models.join(', ')}) or another machine server, found "core:builtin:ghost"`,
  ]);
  const gauge = { api: 'core:component:gauge', model: 'core:builtin:one' };
  const command = { ...method, method: 'DoCommand', additional_params: { docommand_input: {} } };
  expect(told(part(command, gauge))).toEqual([
    'warning components[0].model: this platform\'s machine-server has no resources of type core:component:gauge, other machine servers may have them: found "core:builtin:one"',
  ]);
  expect(told(part(method, { model: 'acme:weather:one' }))).toEqual([]);
});

test('an attribute that a built-in model does not know is a warning with the closest known one; models of modules have their own', () => {
  expect(told(part(method, { model: 'rdk:builtin:fake', attributes: { waves: 1, wave: true } }))).toEqual([
    'warning components[0].attributes.waves: expected one of wave, readings, wave_period_s, found "waves" (closest: wave): this key has no effect',
  ]);
  expect(told(part(method, { model: 'acme:weather:one', attributes: { waves: 1 } }))).toEqual([]);
  const encoder = { name: 'e', api: 'core:component:encoder', model: 'core:builtin:single' };
  expect(told({ components: [{ ...encoder, attributes: { board: 'b', pins: { i: '1', a: '2' } } }] })).toEqual([
    'warning components[0].attributes.pins.a: expected one of i, found "a" (closest: i): this key has no effect',
  ]);
});

test('D38 disabled resources are checked but not run; depending on one is a warning', () => {
  const sensor = { name: 'a', api: 'core:component:sensor', model: 'core:builtin:fake' };
  const { config, problems } = parse({
    components: [
      { ...sensor, disabled: true, attributes: 5 },
      { ...sensor, name: 'b', disabled: true },
      { ...sensor, name: 'c', disabled: false, depends_on: ['b'] },
    ],
    modules: [
      { name: 'm', disabled: true },
      { name: 'n', disabled: false, x: 1 },
    ],
    jobs: [{ name: 'j', disabled: 'yes' }],
  });
  expect(config.components).toEqual([expect.not.objectContaining({ disabled: expect.anything() })]);
  expect(config.components[0]?.name).toBe('c');
  expect([config.modules, config.jobs]).toEqual([[{ name: 'n', x: 1 }], [{ name: 'j' }]]);
  expect(problems.map(({ level, path, message }) => `${level} ${path}: ${message}`)).toEqual([
    'error components[0].attributes: expected an object, found 5',
    'error jobs[0].disabled: expected true or false, found "yes"',
    'warning components[2].depends_on[0]: "b" is disabled: c, which depends on it, cannot run',
    expect.stringContaining('modules[1].x'),
  ]);
  const without = parse({ components: [sensor] }).config;
  expect(
    parse({
      components: [
        { ...sensor, disabled: false },
        { ...sensor, name: 'z', disabled: true },
      ],
    }).config,
  ).toEqual(without);
});

test('D2 problems spell names as the document does', () => {
  const doubled = (space: string): string[] => {
    const sensor = { name: 'a', api: `${space}:component:sensor`, model: `${space}:builtin:ghost` };
    return told({ components: [sensor, { ...sensor, model: `${space}:builtin:fake` }] });
  };
  expect(doubled('core').join()).toContain('found core:component:sensor/a');
  expect(doubled('rdk').join()).toContain('found rdk:component:sensor/a');
  expect(doubled('rdk').join()).not.toContain('core:');
});

test('a service without a model has the built-in one, as public servers read it; a component has none', () => {
  const { services, components } = parse({
    services: [{ name: 'builtin', api: 'rdk:service:data_manager' }],
    components: [{ name: 'a', api: 'rdk:component:sensor' }],
  }).config;
  expect(services[0]?.model).toBe('core:builtin:builtin');
  expect(components[0]?.model).toBe('');
});

test('every problem has a path, what was expected and what was found, shortened, and is reported once', () => {
  const long = 'x'.repeat(500);
  const document = {
    components: [
      5,
      { name: '', api: 'sensor' },
      { name: 'a/b', api: 'core:component:sensor', attributes: [] },
      { name: 'no-api' },
      { name: 'c', api: 'core:component:sensor', depends_on: [long], frame: { parent: 1, colour: 2, geometry: 3 } },
      { name: 'c', api: 'core:component:sensor', log_configuration: { level: 'loud', x: 1 } },
      {
        name: 'd',
        api: 'core:component:sensor',
        service_configs: [
          {
            type: 'data_manager',
            attributes: { capture_methods: [5, { ...method, tags: 'x', disabled: 'no', y: 1 }] },
          },
          { type: 'data_manager', attributes: { capture_methods: 'x', retention_policy: { days: -1, z: 1 } } },
        ],
      },
    ],
    services: [
      {
        name: 'dm',
        api: 'core:service:data_manager',
        attributes: { tags: long, docdb_capture_config: { v: 1, uri: 2 } },
      },
    ],
    modules: [{ name: 5, w: 1 }, 7],
    log: [{ pattern: 5 }],
    auth: { handlers: 5, u: 1 },
    network: { bind_address: 'x', tls_key_file: 'k' },
    maintenance: { sensor_name: 'short', maintenance_allowed_key: '' },
    data_retention_policy: { days: long },
    debug: 'yes',
    t: 1,
  };
  const { problems } = parse(document);
  expect(problems.length).toBeGreaterThan(20);
  for (const { path, message } of problems) {
    expect(path).toMatch(/^[a-z]/);
    expect(message).toMatch(/^expected .+, found ./s);
    expect(message).not.toMatch(/Invalid|Unrecognized|Too small|undefined/);
    expect(message.length).toBeLessThan(500);
  }
  const places = problems.map(({ path, message }) => `${path}: ${message}`);
  expect(places).toHaveLength(new Set(places).size);
});

test('the contents of triggers are left to the trigger feature; a section that is not a list is reported here', () => {
  const { config, problems } = parse({ triggers: [{ event: 5 }, { name: 't', event: {}, notifications: [] }, 7] });
  expect(problems).toEqual([]);
  expect(config.triggers).toMatchObject([{ name: 't' }]);
  expect(told({ triggers: 'x' })).toEqual(['error triggers: expected a list, found "x"']);
});

test('values that the specification says are ignored are warnings, and the rest of the document is kept', () => {
  const ignored = (days: JsonObject): string[] => told({ data_retention_policy: days, debug: true });
  for (const value of [0, -3, 1.5, '7', null, true, [], {}])
    expect(ignored({ days: value })).toEqual([
      `warning data_retention_policy.days: expected a positive whole number, found ${JSON.stringify(value)}: it is ignored`,
    ]);
  expect(ignored({})).toEqual([
    'warning data_retention_policy.days: expected a positive whole number, found nothing: it is ignored',
  ]);
  expect(parse({ data_retention_policy: { days: 1.5 }, debug: true }).config).toMatchObject({ debug: true });
  expect(told({ data_retention_policy: 7 })).toEqual(['error data_retention_policy: expected an object, found 7']);
});

test('null at the top level counts as absent, as Go clients write it', () => {
  expect(told({ components: null, services: null, network: null, debug: null, triggers: null })).toEqual([]);
  expect(told({ components: [null] })).toEqual(['error components[0]: expected an object, found null']);
});

test('a job of a resource that does not run is a warning', () => {
  const job = (resource: string) => ({ name: 'nightly', schedule: '0 3 * * *', resource, method: 'DoCommand' });
  const sensor = { name: 's', api: 'rdk:component:sensor', model: 'fake' };
  const jobs = [job('s'), job('rdk:component:sensor/s'), job('gone')];
  expect(parse({ components: [sensor], jobs }).problems).toEqual([
    {
      path: 'jobs[2].resource',
      level: 'warning',
      message: 'expected the name of a component or service that runs, found "gone": the job cannot run',
    },
  ]);
  expect(parse({ jobs, remotes: [{ name: 'r', address: 'r:1' }] }).problems).toEqual([]);
});

test('settings that do nothing or block everything are warnings: patterns, levels of modules, missing sensors', () => {
  const sensor = { name: 's', api: 'core:component:sensor', model: 'core:builtin:fake' };
  expect(told({ log: [{ pattern: '(', level: 'info' }], modules: [{ name: 'm', log_level: 'loud' }] })).toEqual([
    'warning log[0].pattern: expected a regular expression (RE2 syntax), found "(" (error parsing regexp: missing closing ): `(`): it matches nothing',
    'warning modules[0].log_level: expected one of debug, info, warn, error, found "loud"',
  ]);
  const maintenance = { sensor_name: 'rdk:component:sensor/s', maintenance_allowed_key: 'ok' };
  expect(told({ maintenance, components: [sensor] })).toEqual([]);
  expect(told({ maintenance })).toEqual([
    'warning maintenance.sensor_name: expected the full name of a component, found "rdk:component:sensor/s": without one, every update is held back',
  ]);
  const ours = { ...maintenance, sensor_name: 'core:component:sensor/s' };
  expect(told({ maintenance: ours })[0]).toContain('found "core:component:sensor/s"');
  expect(told({ maintenance: { ...ours, sensor_name: 7 } })[0]).toMatch(/^error maintenance.sensor_name: expected/);
  expect(told({ maintenance, remotes: [{ name: 'r', address: 'r:1' }] })).toEqual([]);
  const dataManager = { name: 'd', api: 'core:service:data_manager', model: 'core:builtin:builtin' };
  const attributes = { selective_syncer_name: 's' };
  const syncing = (depends_on: string[], components: JsonObject[]): string[] =>
    told({ components, services: [{ ...dataManager, attributes, depends_on }] });
  expect(syncing(['s'], [sensor])).toEqual([]);
  expect(syncing([], [sensor])[0]).toMatch(/^warning services\[0\].*depends_on lists as well/);
  expect(syncing([], [])[0]).toMatch(/^warning services\[0\].*expected the name of a sensor, found "s"/);
});

test('remotes without a name or an address, or with the name of another one, are errors', () => {
  const address = 'press.example:8080';
  const remotes = [
    { name: 'r', address },
    { name: 'r', address },
    { address },
    { name: 'a:b', address },
    { name: 'c' },
  ];
  expect(told({ remotes })).toEqual([
    'error remotes[1].name: expected each name once, found "r" again',
    'error remotes[2]: expected a name, found none; add "name"',
    'error remotes[3].name: expected a name of 1 to 200 characters without ":" and "/", found "a:b"',
    'error remotes[4]: expected the full name of a machine or host:port, found none; add "address"',
  ]);
});

test('every problem is reported, even if there are more than a function call can take arguments', () => {
  const missing = Array.from({ length: 200_000 }, (_, n) => `m${n}`);
  expect(told({ components: [{ name: 'a', api: 'core:component:sensor', depends_on: missing }] })).toHaveLength(
    200_000,
  );
});

test('a chain of 20,000 resources is parsed in one walk', () => {
  let asked = 0;
  const chain = Array.from({ length: 20_000 }, (_, n) => ({
    name: `c${n}`,
    api: 'core:component:sensor',
    get depends_on() {
      asked++;
      return n === 0 ? [] : [`c${n - 1}`];
    },
  })).toReversed() as unknown as ResourceConfig[];
  const config: MachineConfig = { ...parse({}).config, components: chain };
  expect(dependencyProblems(config, new Map())).toEqual([]);
  // Once for missing names, and once for cycles.
  expect(asked).toBe(2 * 20_000);
});

test('more than 10,000 components and services are an error at the list that exceeds the limit; the first 10,000 are kept', () => {
  const list = (kind: string, length: number): Json[] =>
    Array.from({ length }, (_, n) => ({ name: `${kind}${n}`, api: `acme:${kind}:x`, model: 'acme:x:y' }));
  const found = (components: number, services: number) => {
    const { config, problems } = parse({
      components: list('component', components),
      services: list('service', services),
    });
    return [problems, config.components.length, config.services.length];
  };
  expect(found(4_000, 6_000)).toEqual([[], 4_000, 6_000]);
  const message = 'expected at most 10000 components and services together, found';
  expect(found(10_001, 0)).toEqual([[{ path: 'components', level: 'error', message: `${message} 10001` }], 10_000, 0]);
  expect(found(4_000, 6_001)).toEqual([
    [{ path: 'services', level: 'error', message: `${message} 6001 beside 4000 components` }],
    4_000,
    6_000,
  ]);
});
