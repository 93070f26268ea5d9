import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { openPseudoTerminal } from '../testing/pseudo-terminal.ts';
import { openKernel } from './kernel.ts';
import { openLine } from './line.ts';
import { openSerial } from './serial.ts';

const settings = { baudRate: 9_600, dataBits: 8, parity: 'none', stopBits: 1 } as const;

test('a serial port carries every byte unchanged, both ways', async () => {
  const { device, path } = await openPseudoTerminal();
  const port = await openSerial({ ...settings, path }, await openKernel());
  onTestFinished(() => void port.destroy());
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  for (const [from, to] of [
    [device, port],
    [port, device],
  ] as const) {
    from.write(all);
    let got = Buffer.alloc(0);
    while (got.length < all.length) got = Buffer.concat([got, (await once(to, 'data'))[0] as Buffer]);
    expect([...got]).toEqual([...all]);
    to.pause();
    to.removeAllListeners('data');
  }
});

test('a closed port frees its device: it can be opened again', async () => {
  const { path } = await openPseudoTerminal();
  const kernel = await openKernel();
  for (let n = 0; n < 3; n++) {
    const port = await openSerial({ ...settings, path }, kernel);
    port.destroy();
    await once(port, 'close');
  }
  expect((await stat(path)).isCharacterDevice()).toBe(true);
});

test('a file that is missing or not a serial port is an error with its path', async () => {
  const kernel = await openKernel();
  await expect(openSerial({ ...settings, path: '/dev/null' }, kernel)).rejects.toThrow(
    '/dev/null: the system refused it (ENOTTY); expected a serial port',
  );
  await expect(openSerial({ ...settings, path: '/dev/ttyNone' }, kernel)).rejects.toThrow(
    '/dev/ttyNone: it does not exist; connect it',
  );
  const tcp = { kind: 'tcp', host: '127.0.0.1', port: 9 } as const;
  await expect(openLine(tcp, 1_000, { kernel: openKernel, clock: systemClock })).rejects.toThrow(
    'tcp://127.0.0.1:9: could not connect',
  );
});
