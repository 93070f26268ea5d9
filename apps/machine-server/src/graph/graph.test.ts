import { createLog, systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { Graph } from './graph.ts';

test('a resource that cannot be built is told with its name and the reason, once for each reason', async () => {
  const told: string[] = [];
  await using graph = new Graph({
    models: [],
    configureTimeoutMs: 1_000,
    clock: systemClock,
    log: createLog((level, _logger, message) => told.push(`${level} ${message}`)),
  });
  const config = {
    name: 'temp',
    api: 'core:component:sensor',
    model: 'core:builtin:ghost',
    attributes: {},
    depends_on: [],
    service_configs: [],
  };
  await graph.apply([config], 'r1');
  await graph.apply([{ ...config, attributes: { a: 1 } }], 'r2');
  expect(told).toEqual([
    'error core:component:sensor/temp could not be built and is tried again: this version of the machine-server has no resources of type core:component:sensor',
  ]);
});
