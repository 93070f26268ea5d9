import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { silentLog } from '@platform/base';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { connect } from '@platform/rpc/client';
import { createRpcServer, serve } from '@platform/rpc/server';
import { expect, test } from 'vitest';
import { createProxy } from './proxy.ts';
import { sensor } from './sensor.ts';

test('a proxy of a sensor forwards readings and commands to its sensor', async () => {
  const binding = serve<typeof SensorService, string>(SensorService, {
    getReadings: ({ name, extra }) => ({
      readings: { name: fromJson(ValueSchema, name), extra: fromJson(ValueSchema, extra ?? null) },
    }),
    doCommand: ({ name, command }) => ({ result: { name, command: command ?? null } }),
  });
  const server = createRpcServer<string>({
    services: [binding],
    authenticate: async () => '',
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => server.close({ graceMs: 0 }));
  const link = stack.use(connect({ baseUrl: `http://127.0.0.1:${port}` }));
  const proxy = createProxy(sensor, link, 'far');
  expect(await proxy.readings({ a: [1, { b: null }] })).toEqual({ name: 'far', extra: { a: [1, { b: null }] } });
  expect(await proxy.doCommand({ set: { a: 2 } })).toEqual({ name: 'far', command: { set: { a: 2 } } });
  await proxy.close();
  expect(link.state).toBe('connected');
});
