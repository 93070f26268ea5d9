import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { endLeftover, recordProcess } from './leftover-process.ts';

test('a process left behind by a killed server is ended; one of a running server, and one that only has the same id, are not', async () => {
  await using directory = await temporaryDirectory();
  const data = directory.file('demo');
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const recordWith = async (change: object): Promise<void> => {
    await recordProcess(data, pid);
    const recorded = JSON.parse(await readFile(`${data}.process.json`, 'utf8')) as object;
    await writeFile(`${data}.process.json`, JSON.stringify({ ...recorded, ...change }));
  };
  const killed = { pid: process.pid, started: '1' };
  await recordWith({});
  expect(await endLeftover(data)).toBe(false);
  await recordWith({ server: killed, started: '1' });
  expect(await endLeftover(data)).toBe(false);
  expect(await endLeftover(data)).toBe(false);
  expect(child.exitCode ?? child.signalCode).toBeNull();
  await recordWith({ server: killed });
  expect(await endLeftover(data)).toBe(true);
  const [, signal] = child.signalCode === null ? await once(child, 'exit') : [null, child.signalCode];
  expect(signal).toBe('SIGKILL');
  await writeFile(`${data}.process.json`, '{');
  expect(await endLeftover(data)).toBe(false);
});
