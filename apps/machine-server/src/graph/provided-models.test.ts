import { createLog, type Log, silentLog } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createGatedModel, gated } from '../testing/gated-model.ts';
import { Graph } from './graph.ts';
import type { Model } from './model.ts';
import type { ResourceStatus } from './node.ts';

const provider = 'module "m"';
const ofModule = (name: string, depends_on: readonly string[] = []): ResourceConfig => ({
  ...gated(name, depends_on),
  model: 'acme:demo:gated',
});

function start(log: Log = silentLog) {
  const { model, events, gates } = createGatedModel();
  const provided = (): Model => ({ ...model, model: 'acme:demo:gated' });
  const clock = new FakeClock();
  const graph = new Graph({ models: [model], configureTimeoutMs: 120_000, clock, log });
  graph.start();
  onTestFinished(() => graph[Symbol.asyncDispose]());
  const of = (name: string): ResourceStatus | undefined => graph.status().find(({ config }) => config.name === name);
  return { graph, clock, events, gates, provided, of };
}

test('a resource waits for the module that may have its model, and is built as soon as that is ready; others are not delayed', async () => {
  const { graph, clock, provided, of } = start();
  graph.provide(provider, { state: 'starting' });
  await graph.apply([ofModule('a'), gated('b'), gated('on-a', ['a'])], 'r1');
  expect(of('a')).toMatchObject({
    state: 'configuring',
    error: 'waits for its model acme:demo:gated: module "m" is starting',
  });
  expect(of('b')?.state).toBe('ready');
  await clock.advance(300_000);
  expect(of('a')?.state).toBe('configuring');
  graph.provide(provider, { state: 'ready', models: [provided()] });
  await clock.advance(0);
  expect([of('a')?.state, of('on-a')?.state]).toEqual(['ready', 'ready']);
});

test('that a resource waits for its model is told once, however many modules become ready before its own', async () => {
  const told: string[] = [];
  const { graph, clock, of } = start(createLog((_level, _logger, message) => told.push(message)));
  for (const name of ['l', 'm', 'n']) graph.provide(`module "${name}"`, { state: 'starting' });
  await graph.apply([ofModule('a')], 'r1');
  for (const name of ['l', 'n']) graph.provide(`module "${name}"`, { state: 'ready', models: [] });
  await clock.advance(0);
  expect(of('a')?.error).toBe('waits for its model acme:demo:gated: module "m" is starting');
  const modules = 'module "l" and module "m" and module "n"';
  expect(told).toEqual([`core:component:sensor/a waits for its model: ${modules} is starting`]);
});

test('resources of a module that ended are dropped unclosed, and unhealthy; its next process rebuilds them, then their dependents', async () => {
  const { graph, clock, events, provided, of } = start();
  graph.provide(provider, { state: 'ready', models: [provided()] });
  await graph.apply([ofModule('a'), gated('b'), gated('on-a', ['a'])], 'r1');
  events.length = 0;
  graph.provide(provider, { state: 'failed', reason: 'it was ended by SIGKILL' });
  await clock.advance(0);
  expect(of('a')).toMatchObject({
    state: 'unhealthy',
    error: 'module "m", which has its model, is not running: it was ended by SIGKILL',
  });
  expect(graph.get('core:component:sensor/a')).toBeUndefined();
  graph.provide(provider, { state: 'ready', models: [provided()] });
  await clock.advance(0);
  expect(of('a')).toMatchObject({ state: 'ready', error: '' });
  expect(events).toEqual(['build a', 'built a', 'build on-a', 'built on-a', 'close on-a']);
});

test('a build interrupted by the end of its module starts again as soon as the module is ready', async () => {
  const { graph, clock, events, gates, provided, of } = start();
  graph.provide(provider, { state: 'ready', models: [provided()] });
  gates.set('a', new Promise(() => {}));
  void graph.apply([ofModule('a')], 'r1');
  await clock.advance(0);
  graph.provide(provider, { state: 'failed', reason: 'gone' });
  await clock.advance(0);
  gates.delete('a');
  graph.provide(provider, { state: 'ready', models: [provided()] });
  await clock.advance(0);
  expect(of('a')?.state).toBe('ready');
  expect(events).toEqual(['build a', 'build a', 'built a']);
});

test('a permanently removed module leaves its resources without a model', async () => {
  const { graph, clock, provided, of } = start();
  graph.provide(provider, { state: 'ready', models: [provided()] });
  await graph.apply([ofModule('a')], 'r1');
  graph.provide(provider, undefined);
  await clock.advance(0);
  expect(of('a')?.error).toMatch(/^core:component:sensor has no model "acme:demo:gated" in this version/);
});

test('references that a model finds are dependencies: required ones are awaited, optional ones used when they appear', async () => {
  const { graph, clock, events, provided, of } = start();
  const asking = (required: string[], optional: string[]): Model => ({
    ...provided(),
    dependencies: async () => ({ required, optional }),
  });
  graph.provide(provider, { state: 'ready', models: [asking(['b'], ['c'])] });
  await graph.apply([ofModule('a')], 'r1');
  expect(of('a')?.error).toBe('"b", which it depends on, is not in the configuration, or is disabled there');
  events.length = 0;
  await graph.apply([ofModule('a'), gated('b')], 'r2');
  await clock.advance(5_000);
  expect(of('a')?.state).toBe('ready');
  expect(events).toEqual(['build b', 'built b', 'build a', 'built a']);
  await graph.apply([ofModule('a'), gated('b'), gated('c')], 'r3');
  await clock.advance(0);
  expect(events.slice(4)).toEqual(['build c', 'built c', 'build a', 'built a', 'close a']);
  events.length = 0;
  await graph.apply([], 'r4');
  expect(events[0]).toBe('close a');
});
