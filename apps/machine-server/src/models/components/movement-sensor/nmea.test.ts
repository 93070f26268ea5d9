import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { systemClock } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { MovementSensorService } from '@platform/proto/platform/component/movementsensor/v1/movementsensor';
import type { Readable } from '@platform/resources';
import type { Client } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { openKernel } from '../../../hardware/kernel.ts';
import { buildReadable, clientOf } from '../../../testing/build-model.ts';
import { openPseudoTerminal } from '../../../testing/pseudo-terminal.ts';
import { errorOf, untilError } from '../../../testing/readings.ts';
import { until } from '../../../testing/start-test-server.ts';
import { createNmea } from './nmea.ts';

const model = createNmea(systemClock, openKernel);

interface Built extends Readable {
  readonly client: Client<typeof MovementSensorService>;
}

async function build(attributes: JsonObject): Promise<Built> {
  const sensor = await buildReadable(model, attributes);
  return {
    readings: (extra) => sensor.readings(extra),
    close: () => sensor.close(),
    client: clientOf(MovementSensorService, sensor),
  };
}

/** With its checksum. */
function sentence(body: string): string {
  let xor = 0;
  for (const byte of Buffer.from(body)) xor ^= byte;
  return `$${body}*${xor.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
}

const gga = sentence('GPGGA,123519,4807.038,N,01131.000,E,4,08,0.9,545.4,M,46.9,M,,');
const rmc = sentence('GNRMC,123519,A,3348.456,S,15112.345,W,022.4,084.4,230394,003.1,W');

async function listen(): Promise<{ address: string; connected: () => Promise<Socket> }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const connected = async (): Promise<Socket> => {
    await until('a connection', () => sockets.length > 0);
    return sockets.pop() as Socket;
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, connected };
}

async function overSerial(more: JsonObject = {}): Promise<{ device: Duplex; sensor: Built; path: string }> {
  const { device, path } = await openPseudoTerminal();
  return { device, path, sensor: await build({ serial_path: path, ...more }) };
}

test('sentences from a serial port become position, altitude, velocity, heading and accuracy', async () => {
  const { device, sensor } = await overSerial();
  // A sentence in two pieces, and one that is not used.
  device.write(`${sentence('HEHDT,270.5,T')}${sentence('GPGSV,1,1,00')}${gga.slice(0, 20)}`);
  device.write(`${gga.slice(20)}${sentence('GPVTG,054.7,T,034.4,M,005.5,N,010.2,K')}`);
  expect(await sensor.client.getCompassHeading({})).toMatchObject({ value: 270.5 });
  const { coordinate, altitudeM } = await sensor.client.getPosition({});
  expect(coordinate?.latitude).toBeCloseTo(48.1173, 6);
  expect(coordinate?.longitude).toBeCloseTo(11.516_666, 5);
  expect(altitudeM).toBeCloseTo(545.4, 3);
  const { linearVelocity } = await sensor.client.getLinearVelocity({});
  expect(linearVelocity).toMatchObject({ x: 0, y: expect.closeTo(2.829, 2), z: 0 });
  expect(await sensor.client.getAccuracy({})).toMatchObject({
    positionHdop: expect.closeTo(0.9, 5),
    positionNmeaGgaFix: 4,
  });
  expect(await sensor.readings({})).toMatchObject({ altitude: 545.4, fix: 4, satellites: 8, compass: 270.5 });
  await expect(sensor.client.getOrientation({})).rejects.toThrow('do not measure this');
});

test('RMC over TCP: south and west are negative, and the course is the heading while there is no HDT', async () => {
  const { address, connected } = await listen();
  const sensor = await build({ address });
  (await connected()).write(rmc);
  const { coordinate } = await sensor.client.getPosition({});
  expect(coordinate).toMatchObject({
    latitude: expect.closeTo(-33.8076, 4),
    longitude: expect.closeTo(-151.205_75, 4),
  });
  expect(await sensor.client.getCompassHeading({})).toMatchObject({ value: 84.4 });
});

test('a receiver without a position is an error that says so, as is a value that is too old', async () => {
  const { device, sensor, path } = await overSerial();
  device.write(sentence('GPGGA,123519,,,,,0,03,,,M,,M,,'));
  await untilError(sensor, `${path}: the receiver has no position (3 satellites); give its antenna`);
  const old = await overSerial({ max_age_ms: 1 });
  old.device.write(gga);
  await untilError(old.sensor, 'expected a position (GGA or RMC) at most 1 ms old');
});

test('a sentence with a wrong checksum is dropped', async () => {
  const { device, sensor } = await overSerial();
  device.write(gga.replace('4807', '4907'));
  device.write(sentence('GPGGA,1,4700.000,N,01100.000,E,1,04,1,5,M,,M,,'));
  const { coordinate } = await sensor.client.getPosition({});
  expect(coordinate).toMatchObject({ latitude: 47, longitude: 11 });
});

test('no sentence in time is an error; so is a lost connection until it is restored', async () => {
  const { address, connected } = await listen();
  const sensor = await build({ address, timeout_ms: 1_000 });
  expect(await errorOf(sensor)).toContain('expected a position (GGA or RMC) within 1000 ms, found none');
  (await connected()).destroy();
  await untilError(sensor, `tcp://${address}: the device ended the connection; reopening it`);
  (await connected()).write(gga);
  await until('a position', async () => (await errorOf(sensor)) === '');
});

test('closing frees the port; a missing device is reported', async () => {
  const { sensor, path, device } = await overSerial();
  await sensor.close();
  const again = await build({ serial_path: path });
  device.write(gga);
  expect(await again.readings({})).toMatchObject({ fix: 4 });
  await expect(build({ serial_path: '/dev/ttyNone' })).rejects.toThrow('/dev/ttyNone: it does not exist');
});
