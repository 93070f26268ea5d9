import { openSync, readSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { deviceError } from './device-error.ts';
import { openKernel, systemError } from './kernel.ts';

test('the kernel finds bytes at their address', async () => {
  const kernel = await openKernel();
  const bytes = Buffer.from('found at its address');
  const memory = openSync('/proc/self/mem', 'r');
  onTestFinished(() => kernel.close(memory));
  const found = Buffer.alloc(bytes.length);
  readSync(memory, found, 0, found.length, kernel.addressOf(bytes));
  expect(found.toString()).toBe('found at its address');
});

test('a call that fails throws the error of the system', async () => {
  const kernel = await openKernel();
  expect(() => kernel.control(-1, 0x5421, Buffer.alloc(4))).toThrow('EBADF');
  expect(systemError(13)).toMatchObject({ code: 'EACCES', errno: 13 });
});

test('the error for a device without permission names the group that may open it', async () => {
  const directory = await mkdtemp('/tmp/device-');
  onTestFinished(() => rm(directory, { recursive: true }));
  const device = `${directory}/tty`;
  await writeFile(device, '');
  await chmod(device, 0o660);
  // Only root may give it to another group.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(device, 0, 20);
  const { code, message } = await deviceError(device, systemError(13));
  expect(code).toBe('permission_denied');
  const group = isRoot ? 'dialout' : '\\S+';
  expect(message).toMatch(
    new RegExp(
      `^${device}: permission denied; add the user of the machine-server to the group ${group} \\(usermod -aG ${group} USER\\)`,
    ),
  );
  await chmod(device, 0o600);
  expect((await deviceError(device, systemError(13))).message).toBe(
    `${device}: permission denied; let the user of the machine-server open it, and start the machine-server again`,
  );
});
