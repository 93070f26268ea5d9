import { readFileSync, writeFileSync } from 'node:fs';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readRefusals, requireAllowed } from './past-ends.ts';

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 0, 2);
const key = { method: '/a.B/C', caller: 'key:1' };
const stranger = { method: '/grpc.health.v1.Health/Check', caller: 'address:10.0.0.7' };

async function refusalsAfter(ends: readonly object[], at = nowMs): Promise<ReturnType<typeof readRefusals>> {
  await using directory = await temporaryDirectory();
  const file = directory.file('watchdog.ndjson');
  writeFileSync(file, ends.map((end) => `${JSON.stringify(end)}\n`).join(''));
  return readRefusals(file, at);
}

test('a caller whose calls held the loop at three ends within a day is refused for an hour, with the reason and the time', async () => {
  const ends = [20, 2, 0.5].map((hours) => ({ atMs: nowMs - hours * hourMs, call: key }));
  const refusals = await refusalsAfter(ends);
  expect(() => requireAllowed(refusals, { ...key, method: '/other/Call' }, nowMs)).toThrow(
    'calls of key 1 are refused until 2026-01-02T00:30:00.000Z: the cloud was stuck in a call of this caller 3 times within a day',
  );
  requireAllowed(refusals, { ...key, caller: 'key:2' }, nowMs);
  requireAllowed(refusals, key, nowMs + 0.5 * hourMs);
  expect((await refusalsAfter(ends, nowMs + hourMs)).size).toBe(0);
});

test('fewer ends, ends of a day ago, ends without a call, and times after now refuse nobody', async () => {
  const at = (hours: number, call?: object): object => ({ atMs: nowMs - hours * hourMs, ...(call && { call }) });
  for (const ends of [
    [at(1, key), at(0.1, key)],
    [at(25, key), at(0.2, key), at(0.1, key)],
    [at(0.3), at(0.2), at(0.1)],
    [at(-1, key), at(-1, key), at(-1, key)],
  ])
    expect((await refusalsAfter(ends)).size).toBe(0);
});

test('without credentials only the calls that held the loop are refused to an address', async () => {
  const refusals = await refusalsAfter([3, 2, 0.1].map((hours) => ({ atMs: nowMs - hours * hourMs, call: stranger })));
  expect(() => requireAllowed(refusals, stranger, nowMs)).toThrow('calls of address 10.0.0.7 are refused');
  requireAllowed(refusals, { ...stranger, method: '/sign-in' }, nowMs);
  requireAllowed(refusals, { ...stranger, caller: 'address:10.0.0.8' }, nowMs);
});

test('a start drops old and damaged lines from the file, and works without it', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('watchdog.ndjson');
  expect(readRefusals(file, nowMs).size).toBe(0);
  const kept = JSON.stringify({ atMs: nowMs - hourMs, call: key });
  writeFileSync(file, `${JSON.stringify({ atMs: nowMs - 25 * hourMs })}\n${kept}\n{"atMs":17`);
  readRefusals(file, nowMs);
  expect(readFileSync(file, 'utf8')).toBe(`${kept}\n`);
});
