/** Two machine-servers without a cloud: one has the other as a remote, captures of it, and depends on it. */
import { readdir } from 'node:fs/promises';
import { ResourceStatus_Reachability, RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { createLocalHome, startLocalServer, states } from '../testing/local-machine.ts';
import { until } from '../testing/start-test-server.ts';

test('readings of a remote are captured here, its resources are in the status, and they are unhealthy once it is gone', async () => {
  const probe = { name: 'probe', api: 'core:component:sensor', model: 'core:builtin:fake' };
  await using home = await createLocalHome({ components: [{ ...probe, attributes: { readings: { celsius: 7 } } }] });
  const far = await startLocalServer(home);
  const capture_methods = [{ name: 'rdk:component:sensor/probe', method: 'Readings', capture_frequency_hz: 50 }];
  const b = {
    ...{ name: 'b', address: `127.0.0.1:${far.serving.port}`, connection_check_interval: '200ms' },
    service_configs: [{ type: 'data_manager', attributes: { capture_methods } }],
  };
  await using own = await createLocalHome({
    remotes: [b],
    components: [{ ...probe, name: 'near', depends_on: ['b:probe'] }],
    services: [{ name: 'data', api: 'core:service:data_manager' }],
  });
  await using near = await startLocalServer(own);
  await until('its resources', () => states(near) === 'b:probe ready, data ready, near ready');
  await until('readings', async () =>
    (await readdir(own.path, { recursive: true })).some(
      (file) => /b.probe/.test(file) && /\.(prog|capture)$/.test(file),
    ),
  );
  await far[Symbol.asyncDispose]();
  await until('its absence', () => states(near).includes('b:probe unhealthy'));
  await using link = connect({ baseUrl: `http://127.0.0.1:${near.serving.port}` });
  const { resources } = await link.client(RobotService).getMachineStatus({});
  expect(resources.find(({ name }) => name?.name === 'b:probe')).toMatchObject({
    ...{ remote: 'b', reachability: ResourceStatus_Reachability.REMOTE_DISCONNECTED },
    error: expect.stringContaining(`the remote "b" (${b.address}, by the path direct) is not reached: `),
  });
});
