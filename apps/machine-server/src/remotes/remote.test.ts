import { createLog, type Log, silentLog, unavailable } from '@platform/base';
import type { JsonObject, ResourceConfig } from '@platform/machine-config/schema';
import { ResourceStatus_Reachability, ResourceStatus_State } from '@platform/proto/platform/robot/v1/robot';
import type { Motor } from '@platform/resources';
import { resourceTypes } from '@platform/resources';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Graph } from '../graph/graph.ts';
import { TypeTable } from '../modules/type-table.ts';
import { createGatedModel, gated } from '../testing/gated-model.ts';
import { createRemotes, type RemotesDeps } from './feature.ts';
import type { RemoteConfig } from './remote-config.ts';
import { createFakeMachine, type FakeMachine, listed } from './testing/fake-machine.ts';

/** @param machines by address */
function start(machines: Readonly<Record<string, FakeMachine>>, log: Log = silentLog) {
  const clock = new FakeClock();
  const { model } = createGatedModel();
  const graph = new Graph({ models: [model], configureTimeoutMs: 1_000, clock, log: silentLog });
  graph.start();
  const remotes = createRemotes({
    types: new TypeTable(resourceTypes),
    reach: ({ address }: RemoteConfig) => {
      const machine = machines[address];
      if (machine === undefined) throw unavailable(`nobody at ${address}`);
      return machine.reach();
    },
    ...{ ownPartId: 'own', clock, log, onChange: () => {} },
    provide: (provider, provided) => graph.provide(provider, provided),
    setRemote: (remote, resources) => graph.setRemote(remote, resources),
  } satisfies RemotesDeps);
  onTestFinished(async () => {
    await remotes[Symbol.asyncDispose]();
    await graph[Symbol.asyncDispose]();
  });
  const apply = async (...entries: JsonObject[]): Promise<void> => {
    remotes.apply(entries);
    await clock.advance(0);
  };
  const states = (): string[] =>
    graph
      .status()
      .map(({ config, state }) => `${config.name} ${state}`)
      .toSorted();
  const move = async (name: string, method: 'setPower' | 'stop'): Promise<void> => {
    const motor = graph.get(`core:component:motor/${name}`) as unknown as Motor;
    await motor[method]({} as never, { signal: new AbortController().signal });
  };
  return { clock, graph, remotes, apply, states, move };
}

const b: JsonObject = { name: 'b', address: 'b.example:1' };

test('its resources are there under its name and prefix, by short names too, and calls reach them by their own names', async () => {
  const machine = createFakeMachine([listed('left'), listed('core:component:arm/left'), listed('c:far')]);
  const { apply, states, graph, move } = start({ 'b.example:1': machine });
  await apply({ ...b, prefix: 'x-' });
  expect(states()).toEqual(['b:x-c:far ready', 'b:x-left ready', 'b:x-left ready']);
  await move('b:x-left', 'setPower');
  await move('x-left', 'stop');
  await move('x-c:far', 'stop');
  expect(machine.calls).toEqual(['setPower left in s1', 'stop left', 'stop c:far']);
  // A resource of this machine has the short name, which then means it.
  await graph.apply([{ ...gated('x-left'), api: 'core:component:motor' } as ResourceConfig], 'r1');
  expect(graph.fullNameOf('core:component:motor/x-left')).toBe('core:component:motor/x-left');
  expect(graph.fullNameOf('core:component:arm/x-left')).toBe('core:component:arm/b:x-left');
});

test('while it is away, each resource is unhealthy with remote, path and reason; it comes back, and so do dependents', async () => {
  const machine = createFakeMachine([listed('left')]);
  const lines: string[] = [];
  const log = createLog((_level, _logger, message) => lines.push(message));
  const { clock, apply, states, graph, remotes, move } = start({ 'b.example:1': machine }, log);
  await graph.apply([gated('on-b', ['b:left']), gated('on-short', ['left'])], 'r1');
  expect(states()).toEqual(['on-b unhealthy', 'on-short unhealthy']);
  await apply(b);
  expect(states()).toEqual(['b:left ready', 'on-b ready', 'on-short ready']);
  expect(remotes.isAway('b')).toBe(false);
  await move('b:left', 'setPower');

  machine.losePath();
  await clock.advance(0);
  const text = 'the remote "b" (b.example:1, by the path relay) is not reached: the link ended';
  expect(graph.status().find(({ config }) => config.name === 'b:left')).toMatchObject({
    state: 'unhealthy',
    error: text,
  });
  expect([remotes.isAway('b'), remotes.errors()]).toEqual([true, text]);
  // Each attempt fails in other words.
  machine.lost = unavailable('nobody answers');
  await clock.advance(60_000);
  expect(lines.filter((line) => line.includes('not reached'))).toEqual([`${text}; trying again`]);

  machine.lost = undefined;
  machine.beats.length = 0;
  await clock.advance(12_000);
  expect(states()).toEqual(['b:left ready', 'on-b ready', 'on-short ready']);
  expect(remotes.errors()).toBe('');
  // The session before has ended; the next movement starts another.
  expect(machine.beats).toEqual([]);
  await move('b:left', 'setPower');
  await clock.advance(400);
  expect([machine.calls.at(-1), machine.beats]).toEqual(['setPower left in s2', ['s2']]);
});

test('what it lists is asked again: new resources appear, and gone ones go; what is not ready there is not ready here', async () => {
  const machine = createFakeMachine([listed('left')]);
  const { clock, apply, states, graph } = start({ 'b.example:1': machine });
  await apply(b);
  const { UNHEALTHY: state } = ResourceStatus_State;
  machine.resources = [listed('right'), listed('broken', { state, error: 'no bus' })];
  await clock.advance(10_000);
  expect(states()).toEqual(['b:broken unhealthy', 'b:right ready']);
  expect(graph.status().find(({ config }) => config.name === 'b:broken')?.error).toBe(
    'at the remote "b", it is unhealthy: no bus',
  );
  machine.resources = [listed('right'), listed('broken')];
  await clock.advance(1_000);
  expect(states()).toEqual(['b:broken ready', 'b:right ready']);
});

test('an edit adds, removes and replaces remotes; one of what is captured keeps its connection and its resources', async () => {
  const [first, second] = [createFakeMachine([listed('left')]), createFakeMachine([listed('left'), listed('up')])];
  const { clock, apply, states, graph } = start({ 'b.example:1': first, 'c.example:1': second });
  await apply(b, { name: 'c', address: 'c.example:1' });
  expect(states()).toEqual(['b:left ready', 'c:left ready', 'c:up ready']);
  const before = graph.get('core:component:motor/b:left');
  expect(graph.get('core:component:motor/left'), 'two remotes have it').toBeUndefined();
  const capture = { name: 'rdk:component:motor/left', method: 'IsPowered', capture_frequency_hz: 1 };
  await apply({ ...b, service_configs: [{ type: 'data_manager', attributes: { capture_methods: [capture] } }] });
  expect([states(), first.open, second.open]).toEqual([['b:left ready'], 1, 0]);
  expect(before).toBeDefined();
  const [{ config } = { config: undefined }] = graph.status();
  expect(config?.service_configs).toEqual([
    { type: 'data_manager', attributes: { capture_methods: [{ method: 'IsPowered', capture_frequency_hz: 1 }] } },
  ]);
  await apply({ ...b, address: 'c.example:1' });
  await clock.advance(0);
  expect([states(), first.open, second.open]).toEqual([['b:left ready', 'b:up ready'], 0, 1]);
  await apply();
  expect([states(), second.open]).toEqual([[], 0]);
});

test('resources of this machine itself, names that are none, and what is too far or too much are left out', async () => {
  const { REMOTE_DISCONNECTED: reachability } = ResourceStatus_Reachability;
  const machine = createFakeMachine([
    listed('a:left', { cloudMetadata: { machinePartId: 'own' } }),
    listed('x:y:z:w:far'),
    listed('core:component:motor/'),
    listed('acme:component:widget/w'),
    listed('c:lost', { reachability }),
    ...Array.from({ length: 1_100 }, (_, index) => listed(`m${index}`)),
  ]);
  const lines: string[] = [];
  const log = createLog((_level, _logger, message) => lines.push(message));
  const { apply, states } = start({ 'b.example:1': machine }, log);
  await apply(b);
  expect(states().length).toBe(1_000 - 1);
  expect(states()[0]).toBe('b:c:lost unhealthy');
  const [told = ''] = lines.filter((line) => line.includes('left out'));
  expect(told).toContain('x:y:z:w:far: it is behind more than 4 remotes');
  expect(told).toContain('acme:component:widget/b:w: neither this machine nor the remote describes its type');
  expect(told).toContain('it has more than 1000 resources');
});

test('remotes that cannot be used are reported, and the others work', async () => {
  const machine = createFakeMachine([listed('left')]);
  const lines: string[] = [];
  const log = createLog((_level, _logger, message) => lines.push(message));
  const { apply, states, remotes } = start({ 'b.example:1': machine }, log);
  await apply({ name: 'a:b', address: 'b.example:1' }, b, b, { name: 'none' }, { name: 'off', address: 'off:1' });
  expect(states()).toEqual(['b:left ready']);
  expect(remotes.errors().split('\n')).toEqual([
    'the remote "none" () is not reached: expected an address, found none',
    'the remote "off" (off:1) is not reached: nobody at off:1',
  ]);
  expect(lines.filter((line) => line.startsWith('remotes['))).toEqual([
    'remotes[0].name: expected a name of 1 to 200 characters without ":" and "/", found "a:b": it is not used',
    'remotes[2].name: expected one remote named "b", found another one: it is not used',
  ]);
});
