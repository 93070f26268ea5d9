import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { isRunning } from '../../testing/is-running.ts';
import { writeProgram } from '../../testing/modules/write-module.ts';
import { until } from '../../testing/start-test-server.ts';
import { ModuleLines } from './module-output.ts';
import { startProcess } from './module-process.ts';

/** Waits only a twentieth of the time. */
const hasty: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) };

test('a process that ignores SIGTERM is killed with its children; its output is logged in lines of a maximum length', async () => {
  await using directory = await temporaryDirectory('module-process-');
  const pids = join(directory.path, 'pids');
  const stubborn = `trap "" TERM; echo $$ > ${pids}; while :; do sleep 1; done`;
  const text = `printf 'first\\n%020000d\\nlast' 0`;
  const script = `trap '' TERM\nsh -c '${stubborn}' &\n${text}\nwhile :; do sleep 1; done`;
  const path = await writeProgram(directory.path, 'stubborn.sh', script);
  const told: string[] = [];
  const log = createLog((level, _logger, message) => told.push(`${level} ${message}`));
  const lines = new ModuleLines('m', log, systemClock);
  const started = await startProcess({ path, args: [], cwd: directory.path, env: process.env, lines, clock: hasty });
  await until('its output', () => told.length >= 2);
  await until('its child', async () => (await readFile(pids, 'utf8').catch(() => '')) !== '');
  const child = Number(await readFile(pids, 'utf8'));
  expect(isRunning(child)).toBe(true);
  await started.stop();
  expect(await started.ended).toBe('it was ended by SIGKILL');
  await until('the end of the child', () => !isRunning(child));
  expect(told).toEqual(['info first', `info ${'0'.repeat(16_384)}… (3616 more characters)`, 'info last']);
});
