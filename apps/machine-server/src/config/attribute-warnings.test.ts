import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { createLocalHome, startLocalServer, states } from '../testing/local-machine.ts';
import { until } from '../testing/start-test-server.ts';

const sensor = { api: 'core:component:sensor', model: 'core:builtin:fake' };
const text = (key: string): string =>
  `attributes.${key}: expected one of wave, readings, wave_period_s, found "${key}" (closest: wave): this key has no effect`;

test('an unknown attribute is a warning in the log, once, and in the status while it is there; the resource runs', async () => {
  const wrong = { ...sensor, name: 'a', attributes: { wawe: true } };
  await using home = await createLocalHome({ components: [wrong, { ...sensor, name: 'b' }] });
  await using server = await startLocalServer(home);
  await using link = connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` });
  const warnings = async (): Promise<Record<string, readonly string[]>> => {
    const { resources } = await link.client(RobotService).getMachineStatus({});
    return Object.fromEntries(resources.map(({ name, warnings }) => [name?.name ?? '', warnings]));
  };
  const page = async (): Promise<string> => (await fetch(`http://127.0.0.1:${server.serving.port}/`)).text();
  expect(await warnings()).toEqual({ a: [text('wawe')], b: [] });
  expect(await page()).toContain('attributes.wawe: expected one of wave');
  expect(states(server)).toBe('a ready, b ready');

  await home.write({
    components: [
      { ...wrong, attributes: { wawe: true, waves: 1 } },
      { ...sensor, name: 'b' },
    ],
  });
  await until('both', async () => (await warnings())['a']?.length === 2);
  await home.write({ components: [{ ...wrong, attributes: { wave: true } }] });
  await until('none', async () => JSON.stringify(await warnings()) === '{"a":[]}');
  expect(await page()).not.toContain('wawe');
  const logged = (key: string): number => home.log().split(text(key)).length - 1;
  expect([logged('wawe'), logged('waves')]).toEqual([1, 1]);
});
