import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { buildReadable } from '../../../testing/build-model.ts';
import { isRunning } from '../../../testing/is-running.ts';
import { untilError, untilReading } from '../../../testing/readings.ts';
import { until } from '../../../testing/start-test-server.ts';
import { createCommandSensor } from './command.ts';

const model = createCommandSensor(systemClock, { untrusted: false });
const shell = (script: string, more: object = {}) => ({ command: 'sh', args: ['-c', script], ...more });

async function fileInDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  return join(directory.path, 'file');
}

test('each reading is the JSON output of one run of the program', async () => {
  const file = await fileInDirectory();
  await writeFile(file, '1');
  const sensor = await buildReadable(model, shell(`echo "{\\"level\\": $(cat ${file}), \\"deep\\": {\\"x\\": [5]}}"`));
  expect(await sensor.readings({})).toEqual({ level: 1, deep: { x: [5] } });
  await writeFile(file, '2');
  expect(await sensor.readings({})).toMatchObject({ level: 2 });
});

test('values picks values of the JSON by path, and a plain value reads as value', async () => {
  const picked = await buildReadable(
    model,
    shell(`echo '{"deep": {"x": [5, 6]}}'`, { values: { first: '$.deep.x[0]', last: "deep['x'][-1]" } }),
  );
  expect(await picked.readings({})).toEqual({ first: 5, last: 6 });
  const plain = await buildReadable(model, shell('echo 7'));
  expect(await plain.readings({})).toEqual({ value: 7 });
});

test.each([
  ['a failed run', shell('echo no probe >&2; exit 3'), 'sh failed with exit code 3: no probe'],
  ['other output', shell('echo warm'), 'sh: expected JSON, found "warm"'],
  ['a missing value', shell('echo {}', { values: { a: 'b' } }), 'sh: expected a value at b, found none at "b"'],
  ['too much output', shell('yes', { max_bytes: 1_000 }), 'expected at most 1000 bytes of output (max_bytes)'],
  ['a run that hangs', shell('sleep 1000', { timeout_ms: 50 }), 'expected it to end within 50 ms (timeout_ms)'],
  ['no such program', { command: '/no/such/program' }, '/no/such/program: this program could not be started (ENOENT)'],
])('%s is an error that says what was expected', async (_what, attributes, message) => {
  const sensor = await buildReadable(model, attributes);
  await expect(sensor.readings({})).rejects.toThrow(message);
});

test('in stream mode a program that ends is an error, and it is restarted', async () => {
  const sensor = await buildReadable(model, shell("echo '{}'; exit 4", { mode: 'stream' }));
  await untilError(sensor, 'sh ended with exit code 4; restarting it');
});

test('in stream mode the newest line is the reading, across restarts', async () => {
  const file = await fileInDirectory();
  const script = `echo x >> ${file}; echo '{"runs": '$(wc -l < ${file})'}'; [ $(wc -l < ${file}) -ge 2 ] && exec sleep 1000; exit 4`;
  const sensor = await buildReadable(model, shell(script, { mode: 'stream' }));
  await untilReading(sensor, { runs: 2 });
});

test('in stream mode a line that is too long or not JSON is an error until the next valid one', async () => {
  const stream = (script: string, more: object = {}) =>
    buildReadable(model, shell(`${script}; exec sleep 1000`, { mode: 'stream', ...more }));
  await untilError(await stream('echo {}; echo oops'), 'sh: expected JSON, found "oops"');
  await untilError(await stream('echo 123456789', { max_bytes: 5 }), 'expected lines of at most 5 bytes (max_bytes)');
  await untilError(await stream('echo 1', { max_age_ms: 1 }), 'at most 1 ms old');
});

test('closing ends the program and its child processes', async () => {
  const file = await fileInDirectory();
  const script = `sleep 1000 & echo $! > ${file}; trap '' TERM; echo '{"pid": '$$'}'; while :; do sleep 1; done`;
  const sensor = await buildReadable(model, shell(script, { mode: 'stream' }));
  const { pid } = await sensor.readings({});
  const started = Number(await readFile(file, 'utf8'));
  expect([isRunning(Number(pid)), isRunning(started)]).toEqual([true, true]);
  await sensor.close();
  await until('both to end', () => !isRunning(Number(pid)) && !isRunning(started));
});

test('-untrusted-env refuses it', async () => {
  const refusing = createCommandSensor(systemClock, { untrusted: true });
  await expect(buildReadable(refusing, shell('echo 1'))).rejects.toThrow(
    '-untrusted-env does not allow the model core:builtin:command',
  );
});

test('wrong attributes are reported with their paths', async () => {
  await expect(buildReadable(model, {})).rejects.toThrow('attributes.command: expected a program, found none');
  await expect(buildReadable(model, shell('', { mode: 'often' }))).rejects.toThrow(
    'attributes.mode: expected "run" or "stream", found "often"',
  );
  await expect(buildReadable(model, shell('', { values: { a: '$.x[' } }))).rejects.toThrow(
    'attributes.values.a: expected a path such as',
  );
});
