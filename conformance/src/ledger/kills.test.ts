/** The ledger test with real processes: kill -9 of both at random instants while the link flaps and acknowledgements are lost. */

import { faultProgress, type Lag, measureLag, reportFault } from '@platform/testkit';
import { expect, test } from 'vitest';
import { pauseMs, seededRandom } from '../crash/cloud-under-load.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { faultsOf, settleWorld, summaryOf } from './check-world.ts';
import { LedgerWorld } from './ledger-world.ts';

const { ledgerKills: kills, seed } = readFaultSettings();
const components = [
  { name: 'fast', hz: 50 },
  { name: 'large', hz: 20, padBytes: 3_000 },
  { name: 'slow', hz: 4 },
];

/** Kills mostly wait, so several worlds run in parallel. */
const worlds = Math.min(2, Math.ceil(kills / 20));
const counts = { machineKills: 0, cloudKills: 0, flaps: 0 };

/** Even on a busy computer: capture waits so that a kill does not lose more. */
const longestGapMs = 1_000;

/** @returns the account of one world that is killed `times` times */
async function killOne(index: number, times: number, lag: Lag) {
  await using world = await LedgerWorld.start(components);
  world.isKept = true;
  const random = seededRandom(seed + index);
  await world.startMachine();
  for (let kill = 0; kill < times; kill++) {
    await disturb(world, random);
    const victim = random(0, 1);
    await pauseMs(random(0, 1_200));
    await Promise.all([
      victim < 0.7 ? world.killMachine().then(() => counts.machineKills++) : undefined,
      victim > 0.5 ? world.cloud.kill().then(() => counts.cloudKills++) : undefined,
    ]);
    await Promise.all([
      victim > 0.5 ? world.cloud.start() : undefined,
      victim < 0.7 ? world.startMachine() : undefined,
    ]);
    faultProgress(`kills, world ${index + 1} of ${worlds}`, kill + 1, times);
  }
  const account = await settleWorld(world, lag);
  const faults = faultsOf(world, account);
  world.isKept = Object.keys(faults).length > 0 || account.longestCrashGapMs > longestGapMs;
  return { account, faults };
}

test(
  `I2 I5 I6 C9 ${kills} kills of the machine-server and the cloud: each reading is stored once, or reported as a gap of at most a second`,
  async () => {
    await using lag = await measureLag();
    const each = Math.ceil(kills / worlds);
    const results = await Promise.all(Array.from({ length: worlds }, (_, index) => killOne(index, each, lag)));
    const accounts = results.map(({ account }) => account);
    reportFault('kills', { seed, worlds, lagMs: Math.round(lag.longestMs), ...counts, ...summaryOf(...accounts) });
    expect(
      results.map(({ faults }) => faults),
      `FAULT_SEED=${seed}`,
    ).toEqual(results.map(() => ({})));
    const longest = Math.max(...accounts.map(({ longestCrashGapMs }) => longestCrashGapMs));
    expect(longest).toBeLessThanOrEqual(longestGapMs);
  },
  kills * 20_000 + 60_000,
);

/** Interrupts the link, cuts an answer, or does nothing. */
async function disturb({ proxy }: LedgerWorld, random: (from: number, to: number) => number): Promise<void> {
  const kind = random(0, 1);
  if (kind < 0.4) {
    proxy.setFault({ kind: 'refuse' });
    proxy.dropAll();
    await pauseMs(random(50, 800));
    counts.flaps++;
  } else if (kind < 0.8) {
    proxy.setFault({ kind: 'cutResponse', afterBytes: Math.floor(random(0, 100)) });
    await pauseMs(random(0, 400));
  }
  proxy.setFault({ kind: 'none' });
}
