/** Models of real devices in a machine-server, called over RPC. */
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { ShellService } from '@platform/proto/platform/service/shell/v1/shell';
import { connect } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { createTestHome, patientClock, startTestServer, until } from '../testing/start-test-server.ts';

test('a program is read, a missing device is reported in the status, and a shell of a machine without keys is refused', async () => {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const document = {
    components: [
      {
        name: 'probe',
        api: 'rdk:component:sensor',
        model: 'rdk:builtin:command',
        attributes: { command: 'echo', args: ['{"celsius": 21.5}'] },
      },
      { name: 'pi', api: 'core:component:board', model: 'core:builtin:gpio', attributes: { chip: '/dev/no-chip' } },
    ],
    services: [{ name: 'shell', api: 'core:service:shell', attributes: { shell: '/bin/sh' } }],
  };
  const cloud = stack.use(await startFakeCloud(document));
  const home = stack.use(await createTestHome(cloud.url));
  const server = stack.use(await startTestServer(home, patientClock));
  const link = stack.use(connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` }));
  await until('the configuration', () => cloud.logs.includes('configuration applied'));

  const { readings } = await link.client(SensorService).getReadings({ name: 'probe' });
  expect(readings['celsius']?.kind).toEqual({ case: 'numberValue', value: 21.5 });

  const { resources } = await link.client(RobotService).getMachineStatus({});
  const board = resources.find(({ name }) => name?.name === 'pi');
  expect(board?.error).toBe('/dev/no-chip: it does not exist; connect it, load its driver, or correct the path');

  async function* typed() {
    yield { name: 'shell', dataIn: 'id\n' };
  }
  const answers = link.client(ShellService).shell(typed())[Symbol.asyncIterator]();
  await expect(answers.next()).rejects.toMatchObject({ code: 'unauthenticated' });
});
