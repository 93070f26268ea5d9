import { createLog, silentLog } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createGatedModel, gated } from '../testing/gated-model.ts';
import { Graph } from './graph.ts';
import type { Model } from './model.ts';
import type { ResourceState } from './node.ts';

const configureTimeoutMs = 120_000;

function start(models: readonly Model[], clock = new FakeClock()): { graph: Graph; clock: FakeClock } {
  const graph = new Graph({ models, configureTimeoutMs, clock, log: silentLog });
  graph.start();
  onTestFinished(() => graph[Symbol.asyncDispose]());
  return { graph, clock };
}

const states = (graph: Graph): Record<string, ResourceState> =>
  Object.fromEntries(graph.status().map(({ config, state }) => [config.name, state]));
const never = new Promise<void>(() => {});

test('a resource that cannot be built is logged with its name and the reason, once per reason', async () => {
  const told: string[] = [];
  await using graph = new Graph({
    models: [],
    configureTimeoutMs: 1_000,
    clock: new FakeClock(),
    log: createLog((level, _logger, message) => level !== 'debug' && told.push(`${level} ${message}`)),
  });
  const config = { ...gated('temp'), model: 'core:builtin:ghost' };
  await graph.apply([config], 'r1');
  await graph.apply([{ ...config, attributes: { a: 1 } }], 'r2');
  expect(told).toEqual([
    'error core:component:sensor/temp could not be built; trying again: this version of the machine-server has no resources of type core:component:sensor',
  ]);
});

test('a new version that cannot be built is logged as such, and a dependency that is absent with both possible reasons', async () => {
  const told: string[] = [];
  const { model, gates } = createGatedModel();
  await using graph = new Graph({
    ...{ models: [model], configureTimeoutMs, clock: new FakeClock() },
    log: createLog((level, logger, message) => level !== 'debug' && told.push(`${logger} ${message}`), 'resources'),
  });
  await graph.apply([gated('a', [], 1)], 'r1');
  gates.set('a2', Promise.reject(new Error('no bus')));
  await graph.apply([gated('a', [], 2), gated('b', ['off'])], 'r2');
  const [a, b] = ['core:component:sensor/a', 'core:component:sensor/b'];
  expect(told.toSorted()).toEqual([
    `resources.${a} the new version of ${a} could not be built, and the old one keeps running; trying again: no bus`,
    `resources.${b} ${b} could not be built; trying again: "off", which it depends on, is not in the configuration, or is disabled there`,
  ]);
});

test('independent resources are built at the same time: four that take a second each are ready after one', async () => {
  const clock = new FakeClock();
  const { model, gates } = createGatedModel();
  const { graph } = start([model], clock);
  for (const name of ['a', 'b', 'c', 'd']) gates.set(name, clock.sleep(1_000));
  const applied = graph.apply(
    ['a', 'b', 'c', 'd'].map((name) => gated(name)),
    'r1',
  );
  await clock.advance(1_000);
  expect(states(graph)).toEqual({ a: 'ready', b: 'ready', c: 'ready', d: 'ready' });
  await applied;
});

test('a resource that hangs during its build delays only its dependents', async () => {
  const { model, gates } = createGatedModel();
  const { graph, clock } = start([model]);
  gates.set('a', never);
  const applied = graph.apply([gated('a'), gated('on-a', ['a']), gated('b'), gated('on-b', ['b'])], 'r1');
  await clock.advance(0);
  expect(states(graph)).toEqual({ a: 'configuring', 'on-a': 'configuring', b: 'ready', 'on-b': 'ready' });
  await clock.advance(configureTimeoutMs);
  await applied;
  expect(states(graph)).toEqual({ a: 'unhealthy', 'on-a': 'unhealthy', b: 'ready', 'on-b': 'ready' });
  expect(graph.errors()).toContain('core:component:sensor/a: it was not built within 120000 ms');
  expect(graph.errors()).toContain('core:component:sensor/a, which it depends on, is not available yet');
});

test('an edit while one resource hangs in its build is applied to the others, and supersedes the build of that resource', async () => {
  const { model, events, gates } = createGatedModel();
  const { graph, clock } = start([model]);
  const late = Promise.withResolvers<void>();
  gates.set('a1', late.promise);
  const first = graph.apply([gated('a', [], 1), gated('on-a', ['a'])], 'r1');
  await clock.advance(0);
  const second = graph.apply([gated('a', [], 1), gated('on-a', ['a']), gated('b')], 'r2');
  await clock.advance(0);
  expect(states(graph)).toEqual({ a: 'configuring', 'on-a': 'configuring', b: 'ready' });
  await graph.apply([gated('a', [], 2), gated('on-a', ['a']), gated('b')], 'r3');
  await Promise.all([first, second]);
  expect(states(graph)).toEqual({ a: 'ready', 'on-a': 'ready', b: 'ready' });
  expect(events).toEqual(['build a1', 'build b', 'built b', 'build a2', 'built a2', 'build on-a', 'built on-a']);
  late.resolve();
  await clock.advance(0);
  expect(events.slice(-2)).toEqual(['built a1', 'close a1']);
});

test('a resource that is removed while it hangs in its build disappears, and is closed when the build ends', async () => {
  const { model, events, gates } = createGatedModel();
  const { graph, clock } = start([model]);
  const late = Promise.withResolvers<void>();
  gates.set('a', late.promise);
  const first = graph.apply([gated('a')], 'r1');
  await clock.advance(0);
  await graph.apply([], 'r2');
  await first;
  expect(states(graph)).toEqual({});
  late.resolve();
  await clock.advance(0);
  expect(events).toEqual(['build a', 'built a', 'close a']);
});

test('a swap builds the new version beside the old one, then closes the old one, which continues while the new one fails', async () => {
  const { model, events, gates } = createGatedModel();
  const { graph, clock } = start([model]);
  await graph.apply([gated('a', [], 1)], 'r1');
  const old = graph.get('core:component:sensor/a');
  gates.set('a2', Promise.reject(new Error('no bus')));
  await graph.apply([gated('a', [], 2)], 'r2');
  expect(states(graph)).toEqual({ a: 'unhealthy' });
  expect(graph.get('core:component:sensor/a')).toBe(old);
  gates.delete('a2');
  await clock.advance(3_000);
  expect(states(graph)).toEqual({ a: 'ready' });
  expect(events).toEqual(['build a1', 'built a1', 'build a2', 'build a2', 'built a2', 'close a1']);
});

test('dependents of a resource are rebuilt when it is swapped, even if its build succeeds only in a later attempt', async () => {
  const { model, events, gates } = createGatedModel();
  const { graph, clock } = start([model]);
  await graph.apply([gated('a', [], 1), gated('on-a', ['a'])], 'r1');
  gates.set('a2', Promise.reject(new Error('no bus')));
  await graph.apply([gated('a', [], 2), gated('on-a', ['a'])], 'r2');
  gates.delete('a2');
  events.length = 0;
  await clock.advance(3_000);
  // Its dependents use the old one until they are rebuilt.
  expect(events).toEqual(['build a2', 'built a2', 'build on-a', 'built on-a', 'close on-a', 'close a1']);
});

test('a model gets the running resources that depends_on names, by full name; the old one while the new one fails', async () => {
  const { model, gates } = createGatedModel();
  const got: ReadonlyMap<string, Resource>[] = [];
  const user: Model = {
    api: 'core:component:sensor',
    model: 'core:builtin:user',
    async build(_config, { dependencies }) {
      got.push(dependencies);
      return { close: async () => {} };
    },
  };
  const { graph } = start([model, user]);
  const wanted = (v: number): ResourceConfig[] => [
    { ...gated('user', ['a', 'core:component:sensor/b']), model: 'core:builtin:user' },
    ...[gated('a', [], v), gated('b'), gated('c')],
  ];
  const running = (): Map<string, Resource | undefined> =>
    new Map(['core:component:sensor/a', 'core:component:sensor/b'].map((name) => [name, graph.get(name)]));
  await graph.apply(wanted(1), 'r1');
  expect(got).toEqual([running()]);
  const first = running();
  gates.set('a2', Promise.reject(new Error('no bus')));
  await graph.apply(wanted(2), 'r2');
  expect(got[1]).toEqual(first);
  await graph.apply(wanted(3), 'r3');
  expect(got[2]).toEqual(running());
  expect(got[2]?.get('core:component:sensor/a')).not.toBe(first.get('core:component:sensor/a'));
});

test('a resource that waits for another one is built as soon as that one is available', async () => {
  const { model, gates } = createGatedModel();
  const { graph, clock } = start([model]);
  gates.set('a', Promise.reject(new Error('no bus')));
  await graph.apply([gated('on-a', ['a']), gated('a')], 'r1');
  expect(states(graph)).toEqual({ a: 'unhealthy', 'on-a': 'unhealthy' });
  await clock.advance(30_000);
  gates.delete('a');
  while (states(graph)['a'] !== 'ready') await clock.advance(500);
  await clock.advance(0);
  expect(states(graph)).toEqual({ a: 'ready', 'on-a': 'ready' });
});

test('removed resources are closed, dependents first, before new ones are built; a hanging one delays them only briefly', async () => {
  const { model, events } = createGatedModel();
  const stuck: Model = {
    api: 'core:component:sensor',
    model: 'core:builtin:stuck',
    build: async () => ({ close: () => never }),
  };
  const { graph, clock } = start([model, stuck]);
  await graph.apply([gated('a'), gated('on-a', ['a']), { ...gated('s'), model: 'core:builtin:stuck' }], 'r1');
  events.length = 0;
  const second = graph.apply([gated('b'), { ...gated('s'), model: 'core:builtin:stuck' }], 'r2');
  await second;
  expect(events).toEqual(['close on-a', 'close a', 'build b', 'built b']);
  const third = graph.apply([gated('b'), gated('c')], 'r3');
  await clock.advance(0);
  expect(states(graph)).toEqual({ s: 'removing', b: 'ready', c: 'configuring' });
  await clock.advance(configureTimeoutMs);
  await third;
  expect(states(graph)).toEqual({ b: 'ready', c: 'ready' });
});

test('a service that can change in place gets its new configuration and the service_configs of resources, and nothing else', async () => {
  const { model, service, events, gates } = createGatedModel();
  const { graph, clock } = start([model, service]);
  const dm = (v: number): ResourceConfig => ({ ...gated('dm', [], v), api: service.api, model: service.model });
  const told = (name: string, hz: number, v?: number): ResourceConfig => ({
    ...gated(name, [], v),
    service_configs: [{ type: 'data_manager', attributes: { hz } }],
  });
  await graph.apply([dm(1), told('a', 1)], 'r1');
  const running = graph.get(`${service.api}/dm`);
  events.length = 0;
  await graph.apply([told('a', 1, 2), dm(1), gated('b')], 'r2');
  expect(events.filter((event) => event.includes('dm'))).toEqual([]);
  await graph.apply([told('a', 5, 2), told('b', 1), dm(1)], 'r3');
  expect(events.filter((event) => event.includes('dm'))).toEqual(['reconfigure dm1 of a b']);
  gates.set('dm2', Promise.reject(new Error('no disk')));
  await graph.apply([dm(2), told('a', 5, 2)], 'r4');
  expect(states(graph)).toMatchObject({ dm: 'unhealthy' });
  expect(graph.get(`${service.api}/dm`)).toBe(running);
  gates.delete('dm2');
  await clock.advance(3_000);
  expect(states(graph)).toMatchObject({ dm: 'ready' });
  expect(graph.get(`${service.api}/dm`)).toBe(running);
  expect(events.filter((event) => event.startsWith('close dm'))).toEqual([]);
  await graph.apply([], 'r5');
  expect(events.filter((event) => event.startsWith('close dm'))).toEqual(['close dm']);
});

test('a cycle does not deadlock: its resources fail, and their errors name what they wait for', async () => {
  const { model } = createGatedModel();
  const { graph } = start([model]);
  await graph.apply([gated('a', ['b']), gated('b', ['a']), gated('self', ['self'])], 'r1');
  expect(states(graph)).toEqual({ a: 'unhealthy', b: 'unhealthy', self: 'ready' });
  expect(graph.errors()).toContain('which it depends on, is not available yet');
});

test('a stop closes everything, dependents first, and does not wait for hanging builds', async () => {
  const { model, events, gates } = createGatedModel();
  const clock = new FakeClock();
  const graph = new Graph({ models: [model], configureTimeoutMs, clock, log: silentLog });
  gates.set('hangs', never);
  void graph.apply([gated('a'), gated('on-a', ['a']), gated('hangs')], 'r1');
  await clock.advance(0);
  events.length = 0;
  await graph[Symbol.asyncDispose]();
  expect(events).toEqual(['close on-a', 'close a']);
  expect(graph.status()).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('a stop is bounded: it reports the resources that did not stop in time, and those that waited for them', async () => {
  const { model, events } = createGatedModel();
  const clock = new FakeClock();
  const told: string[] = [];
  const log = createLog(
    (level, _logger, message, fields) =>
      level !== 'debug' && told.push(`${level} ${message} ${JSON.stringify(fields)}`),
  );
  const stuck: Model = { ...model, model: 'core:builtin:stuck', build: async () => ({ close: () => never }) };
  const graph = new Graph({ models: [model, stuck], configureTimeoutMs, clock, log });
  const config = { ...gated('stuck', ['base']), model: 'core:builtin:stuck' };
  await graph.apply([gated('base'), config, gated('other')], 'r1');
  const stopped = graph[Symbol.asyncDispose]();
  await clock.advance(25_000);
  await stopped;
  expect(events).toContain('close other');
  expect(told).toEqual([
    'error these resources did not stop within 25000 ms {"hanging":["core:component:sensor/stuck"],"waiting":["core:component:sensor/base"]}',
  ]);
});
