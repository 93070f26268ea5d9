import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '@platform/base';
import { Aedes } from 'aedes';
import { expect, onTestFinished, test } from 'vitest';
import { buildReadable } from '../../../testing/build-model.ts';
import { errorOf, untilError, untilReading } from '../../../testing/readings.ts';
import { until } from '../../../testing/start-test-server.ts';
import { createMqttSensor } from './mqtt.ts';

const model = createMqttSensor(systemClock);

interface Broker {
  readonly url: string;
  readonly broker: Aedes;
  readonly server: Server;
  readonly sockets: Set<Socket>;
  publish(topic: string, payload: string): Promise<void>;
}

async function startBroker(): Promise<Broker> {
  const broker = await Aedes.createBroker();
  broker.authenticate = (_client, _user, password, done) =>
    done(null, password === undefined || String(password) === 'good');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    broker.handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await new Promise<void>((resolve) => broker.close(resolve));
  });
  const publish = (topic: string, payload: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const packet = { cmd: 'publish', topic, payload, qos: 0, retain: true, dup: false } as const;
      broker.publish(packet, (failure) => (failure ? reject(failure) : resolve()));
    });
  return { url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, broker, server, sockets, publish };
}

test('a reading is the newest message of the topic', async () => {
  const { url, publish } = await startBroker();
  const sensor = await buildReadable(model, { url, topic: 'plant/oven', values: { celsius: '$.t' } });
  await publish('plant/oven', '{"t": 180, "other": 1}');
  expect(await sensor.readings({})).toEqual({ celsius: 180 });
  await publish('plant/oven', '{"t": 181}');
  await untilReading(sensor, { celsius: 181 });
});

test('with wildcards a reading has the newest message of each topic', async () => {
  const { url, publish } = await startBroker();
  const sensor = await buildReadable(model, { url, topic: 'plant/+', username: 'u', password: 'good', qos: 1 });
  await publish('plant/a', '1');
  await publish('plant/b', '{"x": 2}');
  await untilReading(sensor, { plant_a: { value: 1 }, plant_b: { x: 2 } });
});

test('a message that is not JSON, too large or too old is an error', async () => {
  const { url, publish } = await startBroker();
  await publish('bad', 'warm');
  await publish('large', '"0123456789"');
  const bad = await buildReadable(model, { url, topic: 'bad' });
  expect(await errorOf(bad)).toContain(`${url} bad: expected JSON, found "warm"`);
  const large = await buildReadable(model, { url, topic: 'large', max_bytes: 4 });
  expect(await errorOf(large)).toContain('expected messages of at most 4 bytes (max_bytes), found 12');
  const none = await buildReadable(model, { url, topic: 'none', timeout_ms: 2_000 });
  expect(await errorOf(none)).toBe(`${url} none: expected a message within 2000 ms, found none`);
});

test('a lost connection is an error that says so; when the broker is back, readings continue', async () => {
  const { url, sockets, publish } = await startBroker();
  await publish('t', '1');
  const lines: string[] = [];
  const sensor = await buildReadable(model, { url, topic: 't' }, { lines });
  await untilReading(sensor, { value: 1 });
  for (const socket of sockets) socket.destroy();
  await untilError(sensor, 'the connection to the broker is lost');
  await untilReading(sensor, { value: 1 });
  expect(lines).toEqual([expect.stringContaining('is lost'), expect.stringContaining('connected to the broker again')]);
});

test('a missing broker, a refused password and wrong attributes are errors that say what to do', async () => {
  const { url } = await startBroker();
  await expect(buildReadable(model, { url: 'mqtt://127.0.0.1:9', topic: 't' })).rejects.toThrow(
    /127\.0\.0\.1:9: the broker did not accept the connection .*check the address/,
  );
  await expect(buildReadable(model, { url, topic: 't', username: 'u', password: 'bad' })).rejects.toThrow(
    'check the address, username and password',
  );
  await expect(buildReadable(model, { url })).rejects.toThrow('attributes.topic: expected a topic, found none');
  await expect(buildReadable(model, { url: 'x', topic: 't' })).rejects.toThrow(
    'attributes.url: expected an address such as mqtt://…',
  );
});

test('closing ends the connection', async () => {
  const { url, sockets } = await startBroker();
  const sensor = await buildReadable(model, { url, topic: 't' });
  expect(sockets.size).toBe(1);
  await sensor.close();
  await until('the connection to end', () => sockets.size === 0);
  expect(await errorOf(sensor)).toContain('this sensor was closed');
});
