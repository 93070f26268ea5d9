import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { expect, test } from 'vitest';
import { pathOf, wayOver } from './direct-way.ts';

const motor = 'platform.component.motor.v1.MotorService';

test('calls have the messages, headers and errors that they have as JSON through the cloud', async () => {
  const seen: unknown[] = [];
  const way = wayOver(
    createRouterTransport(({ service }) => {
      service(MotorService, {
        setPower({ name, powerPct }, { requestHeader }) {
          seen.push([name, powerPct, requestHeader.get('viam-sid')]);
          return {};
        },
        isPowered: () => ({ isOn: true, powerPct: 0.5 }),
        stop: () => {
          throw new ConnectError('jammed', Code.Internal);
        },
      });
      service(SensorService, {
        getReadings: () => ({ readings: { celsius: { kind: { case: 'numberValue', value: 21.5 } } } }),
      });
    }),
  );
  const init = { headers: { 'viam-sid': 's1' } };
  expect(await way.call(`${motor}/SetPower`, { name: 'left', powerPct: 0.5 }, init)).toEqual({});
  expect(seen).toEqual([['left', 0.5, 's1']]);
  expect(await way.call(`${motor}/IsPowered`, { name: 'left' }, {})).toEqual({ isOn: true, powerPct: 0.5 });
  const read = way.call('platform.component.sensor.v1.SensorService/GetReadings', { name: 't' }, {});
  expect(await read).toEqual({ readings: { celsius: 21.5 } });
  await expect(way.call(`${motor}/Stop`, { name: 'left' }, {})).rejects.toThrow('jammed');
});

test('types of modules, streams and misspelled methods are not called over WebRTC', () => {
  const { knows } = wayOver(createRouterTransport(() => {}));
  expect(knows(`${motor}/SetPower`)).toBe(true);
  for (const path of [
    'acme.widget.v1.WidgetService/Spin',
    'platform.robot.v1.RobotService/StreamStatus',
    `${motor}/No`,
  ])
    expect(knows(path)).toBe(false);
});

test('data that a TURN server passes on are not called direct', async () => {
  const pathWith = (local: 'host' | 'relay', remote: 'stun' | 'relay') =>
    pathOf({ selectedPair: async () => ({ local, remote, remoteAddress: '192.0.2.1:3478' }) });
  expect([await pathWith('host', 'stun'), await pathWith('relay', 'stun'), await pathWith('host', 'relay')]).toEqual([
    'direct',
    'turn',
    'turn',
  ]);
});
