import { createLog, type LogLevel } from '@platform/base';
import { type Sensor, sensor } from '@platform/resources';
import { expect, test } from 'vitest';
import { defineModel } from './define-model.ts';
import { type Context, RunningResources } from './running-resources.ts';

const model = 'acme:examples:probe';

/** A sensor as a class, with a private field. */
class Probe {
  readonly #value: unknown;
  readonly #events: string[];

  constructor(value: unknown, events: string[]) {
    this.#value = value;
    this.#events = events;
  }

  readings() {
    return { value: this.#value };
  }

  close(): void {
    this.#events.push(`closed ${this.#value}`);
    if (this.#value === 'stuck') throw new Error('the port is busy');
  }
}

function rig() {
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  const probe = defineModel(sensor, {
    model,
    async build({ attributes: { value } }) {
      if (value === 'slow') await gate.promise;
      events.push(`built ${value}`);
      return new Probe(value, events);
    },
  });
  const log = createLog((level: LogLevel, _logger, message) => void events.push(`${level}: ${message}`));
  const resources = new RunningResources([probe]);
  const context = { log } as Context;
  const config = (value: string) => ({
    ...{ name: 'a', api: sensor.api, model, dependsOn: [] },
    attributes: { value },
  });
  const value = async () => {
    const { resource } = resources.get(sensor, 'a');
    return (await (resource as Sensor).readings({}))['value'];
  };
  return { resources, context, config, events, value, open: gate.resolve };
}

test('a new resource replaces the old one, even if the old one cannot be closed', async () => {
  const { resources, context, config, events, value } = rig();
  await resources.add(config('stuck'), context);
  await resources.reconfigure(config('next'), context);
  expect(await value()).toBe('next');
  expect(events).toEqual([
    ...['built stuck', 'built next', 'closed stuck', 'debug: the port is busy'],
    'warn: the previous resource could not be closed',
  ]);
});

test('changes to one resource happen in the order in which they were requested', async () => {
  const { resources, context, config, events, value, open } = rig();
  const adding = resources.add(config('slow'), context);
  const changing = resources.reconfigure(config('b'), context);
  const removing = resources.remove('core:component:sensor/a');
  const addingAgain = resources.add(config('c'), context);
  open();
  await Promise.all([adding, changing, removing, addingAgain]);
  expect(events).toEqual(['built slow', 'built b', 'closed slow', 'closed b', 'built c']);
  expect(await value()).toBe('c');
});

test('all resources are closed at the end, the newest first, even after one that cannot be closed', async () => {
  const { resources, context, config, events } = rig();
  await resources.add(config('first'), context);
  await resources.add({ ...config('stuck'), name: 'b' }, context);
  await resources[Symbol.asyncDispose]();
  expect(events.filter((event) => event.startsWith('closed'))).toEqual(['closed stuck', 'closed first']);
});
