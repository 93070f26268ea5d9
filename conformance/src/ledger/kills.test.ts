/** The ledger test with real processes: kill -9 of both at random instants while the link flaps and acknowledgements are lost. */

import { reportFault } from '@platform/testkit';
import { expect, test } from 'vitest';
import { pauseMs, seededRandom } from '../crash/cloud-under-load.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { checkWorld, faultsOf, summaryOf } from './check-world.ts';
import { LedgerWorld } from './ledger-world.ts';

const { ledgerKills: kills, seed } = readFaultSettings();
const components = [
  { name: 'fast', hz: 50 },
  { name: 'large', hz: 20, padBytes: 3_000 },
  { name: 'slow', hz: 4 },
];

test(
  `I2 I5 I6 C9 ${kills} kills of the machine-server and the cloud: what was produced is stored once, or reported as a gap of at most a second`,
  async () => {
    await using world = await LedgerWorld.start(components);
    world.isKept = true;
    const random = seededRandom(seed);
    const counts = { machineKills: 0, cloudKills: 0, flaps: 0 };
    await world.startMachine();
    for (let kill = 0; kill < kills; kill++) {
      await disturb(world, random, counts);
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
    }
    await world.settle();
    const account = await checkWorld(world);
    reportFault('kills', { seed, ...counts, ...summaryOf(account) });
    expect(faultsOf(world, account), `seed ${seed}`).toEqual({});
    expect(account.longestCrashGapMs).toBeLessThanOrEqual(1_000);
    world.isKept = false;
  },
  kills * 20_000 + 60_000,
);

/** A flap of the link, or a cut in the middle of an answer, or nothing. */
async function disturb(
  { proxy }: LedgerWorld,
  random: (from: number, to: number) => number,
  counts: { flaps: number },
): Promise<void> {
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
