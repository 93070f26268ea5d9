import { writeFileSync } from 'node:fs';
import { close, open } from 'node:inspector';
import { SharedTurns, silentLog } from '@platform/base';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { createWatchdog, type Watchdog } from './feature.ts';

const principal = (keyId: string): Principal => ({ kind: 'key', keyId, keyName: '', grants: [] });
const at = (path: string) => ({ path, peerAddress: '10.0.0.7:4711' });

/** A watchdog of a cloud that was ended three times in each of these calls. */
async function startWatchdog(
  ends: readonly { readonly method: string; readonly caller: string }[] = [],
): Promise<{ readonly watchdog: Watchdog; readonly clock: FakeClock }> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const clock = new FakeClock();
  const file = directory.file('watchdog.ndjson');
  const line = (call: object): string => `${JSON.stringify({ atMs: clock.now() - 1_000, call })}\n`;
  writeFileSync(file, ends.map((call) => line(call).repeat(3)).join(''));
  const watchdog = createWatchdog({ file, clock, log: silentLog });
  onTestFinished(() => watchdog[Symbol.asyncDispose]());
  return { watchdog, clock };
}

test('after three ends the address is refused the call that held the loop, and the key every call', async () => {
  const { watchdog, clock } = await startWatchdog([
    { method: '/sign-in', caller: 'address:10.0.0.7' },
    { method: '/a.B/C', caller: 'key:1' },
  ]);
  const { enter, admit, admitStranger } = watchdog;
  expect(() => enter(at('/sign-in'), admitStranger)).toThrow('calls of address 10.0.0.7 are refused until');
  enter(at('/healthz'), admitStranger);
  enter({ path: '/sign-in', peerAddress: '10.0.0.8:4711' }, admitStranger);
  expect(() => enter(at('/a.B/D'), () => admit(principal('1')))).toThrow('calls of key 1 are refused until');
  // Whoever has valid credentials is no longer known by the address.
  enter(at('/sign-in'), () => admit(principal('2')));
  await clock.advance(3_600_000);
  enter(at('/sign-in'), admitStranger);
});

test('the loop is watched from the start to the stop, except while a debugger may pause it', async () => {
  const { watchdog, clock } = await startWatchdog();
  const turns = new SharedTurns(watchdog.setup.turns);
  expect(turns.isWatched).toBe(false);
  watchdog.start({ ownThread: false });
  expect(turns.isWatched).toBe(true);
  onTestFinished(close);
  open(0, '127.0.0.1');
  await clock.advance(1_000);
  expect(turns.isWatched).toBe(false);
  close();
  await clock.advance(1_000);
  expect(turns.isWatched).toBe(true);
  await watchdog[Symbol.asyncDispose]();
  expect(turns.isWatched).toBe(false);
});
