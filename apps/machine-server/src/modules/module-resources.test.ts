import { type CodeName, PlatformError, silentLog } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Readable } from '@platform/resources';
import { sensor as sensorType } from '@platform/resources/types';
import { FakeClock } from '@platform/testkit';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Graph } from '../graph/graph.ts';
import { createModuleLink, forgottenAnswers, type ModuleLink } from '../testing/modules/module-link.ts';
import { ModuleResources } from './module-resources.ts';

const api = 'core:component:sensor';
const sensor = (name: string, v: unknown, depends_on: readonly string[] = []): ResourceConfig => ({
  ...{ name, api, model: 'acme:demo:thing', attributes: { v } as ResourceConfig['attributes'] },
  ...{ depends_on, service_configs: [] },
});

function start({ link }: ModuleLink) {
  const clock = new FakeClock();
  const resources: ModuleResources = new ModuleResources({
    ...{ link, configureTimeoutMs: 120_000, clock },
    onForgotten: (full) => graph.rebuild(full),
    rebuild: (full) => graph.rebuild(full),
    levelOf: () => 'info',
  });
  const graph: Graph = new Graph({ models: [], configureTimeoutMs: 120_000, clock, log: silentLog });
  graph.start();
  onTestFinished(() => graph[Symbol.asyncDispose]());
  graph.provide('module "m"', { state: 'ready', models: [resources.model(sensorType, 'acme:demo:thing')] });
  const of = (name: string) => graph.status().find(({ config }) => config.name === name);
  return { clock, resources, graph, of };
}

/** The constructor raises for a negative `v`. */
const checking = (): ModuleLink =>
  createModuleLink((call, change) => {
    if (!call.startsWith('remove') && Number(change?.config.attributes?.['v']) < 0) throw new Error('ValueError: v');
  });

test('a resource lost to an edit whose constructor raises is added again by the corrected one, and its dependents are rebuilt', async () => {
  const module = checking();
  const { graph, of } = start(module);
  const all = (v: number) => [sensor('c', v), sensor('on-c', 0, ['c'])];
  await graph.apply(all(1), 'r1');
  await graph.apply(all(-1), 'r2');
  expect(of('c')).toMatchObject({ state: 'unhealthy', error: expect.stringContaining('ValueError: v') });
  module.calls.length = 0;
  await graph.apply(all(2), 'r3');
  expect([of('c')?.state, of('on-c')?.state]).toEqual(['ready', 'ready']);
  expect(module.held.get(`${api}/c`)).toEqual({ v: 2 });
  expect(module.calls.slice(0, 2)).toEqual(['remove c', 'add c']);
  expect(module.calls.slice(2)).toContain('reconfigure on-c');
});

test('a failed edit is tried again by removing and adding, so that it heals without a person; its dependents are then rebuilt', async () => {
  let isBroken = false;
  const module = createModuleLink((call) => {
    if (isBroken && call !== 'remove c') throw new Error('no bus');
  });
  const { graph, clock, of } = start(module);
  const all = (v: number) => [sensor('c', v), sensor('on-c', 0, ['c'])];
  await graph.apply(all(1), 'r1');
  isBroken = true;
  await graph.apply(all(2), 'r2');
  await clock.advance(5_000);
  expect(graph.get(`${api}/c`), 'the module no longer has it').toBeUndefined();
  isBroken = false;
  await clock.advance(120_000);
  expect([of('c')?.state, of('on-c')?.state]).toEqual(['ready', 'ready']);
  expect(Object.fromEntries(module.held)).toEqual({ [`${api}/c`]: { v: 2 }, [`${api}/on-c`]: { v: 0 } });
});

test('a resource that the module has forgotten is added again at once by the next edit', async () => {
  const module = checking();
  const { graph, of } = start(module);
  await graph.apply([sensor('c', 1)], 'r1');
  module.held.clear();
  await graph.apply([sensor('c', 2)], 'r2');
  expect(of('c')?.state).toBe('ready');
  expect(module.held.get(`${api}/c`)).toEqual({ v: 2 });
});

test.each(Object.entries(forgottenAnswers))(
  'a call to a resource that a module in %s has forgotten leads to its addition, without an edit; its dependents are rebuilt',
  async (_language, answer) => {
    const module = createModuleLink(undefined, answer);
    const { graph, clock, of } = start(module);
    await graph.apply([sensor('c', 1), sensor('on-c', 0, ['c'])], 'r1');
    const read = async (): Promise<unknown> => (graph.get(`${api}/c`) as Readable).readings({});
    await read();
    expect(module.calls, 'nothing is added while it works').toEqual(['add c', 'add on-c']);
    module.held.delete(`${api}/c`);
    await expect(read()).rejects.toThrow();
    await clock.advance(0);
    await read();
    expect(module.calls.slice(2)).toEqual(['remove c', 'add c', 'reconfigure on-c']);
    expect([of('c')?.state, of('on-c')?.state]).toEqual(['ready', 'ready']);
  },
);

test('an answer that something else is not found, or that comes again after the addition, does not add it in a loop', async () => {
  let answer: readonly [CodeName, string] = ['not_found', 'No Pin with name "7" found in the registry'];
  const module = createModuleLink((call) => {
    if (call === 'read c') throw new PlatformError(...answer);
  });
  const { graph, clock } = start(module);
  await graph.apply([sensor('c', 1)], 'r1');
  const read = async (): Promise<void> => {
    await expect((graph.get(`${api}/c`) as Readable).readings({})).rejects.toThrow();
    await clock.advance(0);
  };
  await read();
  expect(module.calls).toEqual(['add c']);
  answer = ['not_found', 'No Sensor with name "c" found in the registry'];
  for (let n = 0; n < 5; n++) await read();
  expect(module.calls).toEqual(['add c', 'remove c', 'add c']);
  await clock.advance(60_000);
  await read();
  expect(module.calls).toHaveLength(5);
});

test('an edit supersedes a constructor that hangs, and is not refused as a duplicate of it', async () => {
  const module = createModuleLink((_call, change) =>
    change?.config.attributes?.['v'] === 'hang' ? new Promise<void>(() => {}) : undefined,
  );
  const { graph, of } = start(module);
  void graph.apply([sensor('c', 'hang')], 'r1');
  await graph.apply([sensor('c', 1)], 'r2');
  expect(of('c')?.state).toBe('ready');
  void graph.apply([sensor('c', 'hang')], 'r3');
  await graph.apply([sensor('c', 2)], 'r4');
  expect(of('c')?.state).toBe('ready');
  expect(module.held.get(`${api}/c`)).toEqual({ v: 2 });
});

test('all resources of a module are removed in the order of a shutdown: dependents before their dependencies', async () => {
  const module = createModuleLink();
  const { graph, resources } = start(module);
  await graph.apply([sensor('a', 1), sensor('b', 1, ['a']), sensor('c', 1, ['b']), sensor('d', 1)], 'r1');
  module.calls.length = 0;
  await resources.removeAll();
  expect(module.calls.filter((call) => call !== 'remove d')).toEqual(['remove c', 'remove b', 'remove a']);
  expect(module.held.size).toBe(0);
});

test('after any edits, with a module that fails, hangs or forgets at any call, all resources run with the last configuration', async () => {
  const fault = fc.constantFrom('ok', 'ok', 'fail', 'not_found', 'hang', 'forget', 'fail after');
  const edit = fc.record({
    versions: fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)),
    pauseMs: fc.constantFrom(0, 1_000, 200_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fault), fc.array(edit, { minLength: 1, maxLength: 5 }), async (faults, edits) => {
      const left = [...faults];
      const module = createModuleLink((call, change) => {
        const full = `${api}/${call.split(' ')[1]}`;
        const what = left.shift();
        if (what === 'hang') return new Promise<void>(() => {});
        if (what === 'forget') module.held.clear();
        if (what === 'fail after' && change !== undefined) module.held.set(full, change.config.attributes);
        if (what === 'not_found') throw new PlatformError('not_found', 'nothing here');
        if (what === 'fail' || what === 'fail after') throw new Error('failed');
      });
      const { graph, clock, of } = start(module);
      const configs = (versions: readonly number[]) => {
        const [a, b, c] = versions;
        return [sensor('a', a), sensor('b', b, ['a']), sensor('c', c, ['b'])];
      };
      for (const [index, { versions, pauseMs }] of edits.entries()) {
        void graph.apply(configs(versions), `r${index}`);
        await clock.advance(pauseMs);
      }
      // From now on the module answers, and its resources are edited once more.
      left.length = 0;
      const last = configs([7, 8, 9]);
      void graph.apply(last, 'last');
      await clock.advance(300_000);
      expect(last.map(({ name }) => [of(name)?.state, of(name)?.error])).toEqual(last.map(() => ['ready', '']));
      expect(last.map(({ name }) => module.held.get(`${api}/${name}`))).toEqual([{ v: 7 }, { v: 8 }, { v: 9 }]);
    }),
    { numRuns: 100 },
  );
});
