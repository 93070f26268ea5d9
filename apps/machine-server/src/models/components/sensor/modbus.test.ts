import { type AddressInfo, createServer, type Socket } from 'node:net';
import { systemClock } from '@platform/base';
import modbus from 'jsmodbus';
import { expect, onTestFinished, test } from 'vitest';
import { openKernel } from '../../../hardware/kernel.ts';
import { buildReadable } from '../../../testing/build-model.ts';
import { openPseudoTerminal } from '../../../testing/pseudo-terminal.ts';
import { untilError } from '../../../testing/readings.ts';
import { createModbusSensor } from './modbus.ts';

const model = createModbusSensor(systemClock, openKernel);

/** Registers 0 to 9 of a device. */
function holding(): Buffer {
  const buffer = Buffer.alloc(400);
  buffer.writeUInt16BE(215, 0);
  buffer.writeInt16BE(-40, 2);
  buffer.writeFloatBE(12.5, 4);
  // 100,000 with the low word first.
  buffer.writeUInt16BE(100_000 & 0xffff, 8);
  buffer.writeUInt16BE(1, 10);
  buffer.writeBigInt64BE(-5n, 12);
  return buffer;
}

const registers = [
  { name: 'celsius', address: 0, scale: 0.1, offset: -1 },
  { name: 'outside', address: 1, type: 'int16' },
  { name: 'bar', address: 2, type: 'float32' },
  { name: 'hours', address: 4, type: 'uint32', word_order: 'little' },
  { name: 'steps', address: 6, type: 'int64' },
  { name: 'door', kind: 'coil', address: 9 },
  { name: 'lamp', kind: 'coil', address: 10 },
  { name: 'flow', kind: 'input', address: 50 },
];
const reading = {
  celsius: 20.5,
  outside: -40,
  bar: 12.5,
  hours: 100_000,
  steps: -5,
  door: true,
  lamp: false,
  flow: 77,
};

function memory() {
  const [coils, input] = [Buffer.alloc(8), Buffer.alloc(400)];
  coils[1] = 0b10;
  input.writeUInt16BE(77, 100);
  return { coils, discrete: Buffer.alloc(8), holding: holding(), input };
}

async function listen(onConnection: (socket: Socket) => void): Promise<{ address: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

async function startDevice() {
  // It handles the sockets of another server's connections.
  const server = createServer();
  const device = new modbus.server.TCP(server, memory());
  const requests: string[] = [];
  device.on('preReadHoldingRegisters', (request) => void requests.push(JSON.stringify(request.body)));
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests, sockets };
}

test('over TCP a reading has every register, decoded, scaled, and read with few requests', async () => {
  const { address, requests } = await startDevice();
  const sensor = await buildReadable(model, { address, registers });
  expect(await sensor.readings({})).toEqual(reading);
  expect(requests).toHaveLength(1);
});

test('over a serial line (RTU) the readings are the same', async () => {
  const { device, path } = await openPseudoTerminal();
  new modbus.server.RTU(device as Socket, memory());
  const sensor = await buildReadable(model, {
    serial_path: path,
    serial_baud_rate: 19_200,
    serial_parity: 'even',
    registers,
  });
  for (let n = 0; n < 3; n++) expect(await sensor.readings({})).toEqual(reading);
});

test('an address that does not exist, and a silent device, are errors with the device', async () => {
  const silent = await listen(() => {});
  const sensor = await buildReadable(model, { address: silent.address, registers, timeout_ms: 1_000, unit: 7 });
  await expect(sensor.readings({})).rejects.toThrow(
    `tcp://${silent.address}: expected unit 7 to answer within 1000 ms (timeout_ms); check the unit`,
  );
  // Answers everything with the function and exception 2.
  const refusing = await listen((socket) =>
    socket.on('data', (request: Buffer) => socket.write(Buffer.from([...request.subarray(0, 4), 0, 3, 1, 0x83, 2]))),
  );
  const other = await buildReadable(model, { address: refusing.address, registers: [{ name: 'a', address: 5 }] });
  await expect(other.readings({})).rejects.toThrow(
    'holding 5 of unit 1: the device answered exception 2: it has no such address',
  );
});

test('a wrong checksum on a serial line is an error', async () => {
  const { device, path } = await openPseudoTerminal();
  device.on('data', () => device.write(Buffer.from([1, 3, 2, 0, 0, 9, 9])));
  const sensor = await buildReadable(model, { serial_path: path, registers: [{ name: 'a', address: 5 }] });
  await expect(sensor.readings({})).rejects.toThrow(`${path}: the checksum is wrong: check the baud rate`);
});

test('a broken connection is reopened at the next reading', async () => {
  const { address, sockets } = await startDevice();
  const sensor = await buildReadable(model, { address, registers });
  expect(await sensor.readings({})).toEqual(reading);
  for (const socket of sockets) socket.destroy();
  const next = await Promise.resolve(sensor.readings({})).catch(() => sensor.readings({}));
  expect(next).toEqual(reading);
});

test('closing ends the connection and a request in progress', async () => {
  const asked = Promise.withResolvers<void>();
  const { address, sockets } = await listen((socket) => socket.on('data', () => asked.resolve()));
  const sensor = await buildReadable(model, { address, registers, timeout_ms: 60_000 });
  const failing = expect(sensor.readings({})).rejects.toThrow('this sensor was closed');
  await asked.promise;
  const [socket] = sockets;
  const ended = new Promise((resolve) => socket?.once('close', resolve));
  await sensor.close();
  await failing;
  await ended;
  await untilError(sensor, 'this sensor was closed');
});

test.each([
  [{ registers }, 'attributes: expected address (host:port) or serial_path, found neither'],
  [{ address: 'h:0', registers }, 'attributes.address: expected host:port, found "h:0"'],
  [{ address: 'h' }, 'attributes.registers: expected at least one register, found none'],
  [
    { address: 'h', registers: [{ name: 'a', address: 70_000 }] },
    'attributes.registers[0].address: expected a whole number from 0 to 65535, found 70000',
  ],
  [
    { address: 'h', registers: [{ name: 'a', address: 1, type: 'int8' }] },
    'attributes.registers[0].type: expected bool, uint16',
  ],
  [
    { address: 'h', registers: [{ name: 'a', address: 1, kind: 'coil', type: 'int16' }] },
    'attributes.registers[0].type: expected bool, found "int16"',
  ],
  [{ serial_path: 'COM1', registers }, 'attributes.serial_path: expected a path such as /dev/ttyUSB0, found "COM1"'],
  [
    { serial_path: '/dev/x', serial_parity: 'mark', registers },
    'attributes.serial_parity: expected "none" or "even" or "odd", found "mark"',
  ],
])('wrong attributes %j are reported', async (attributes, message) => {
  await expect(buildReadable(model, attributes)).rejects.toThrow(message);
});
