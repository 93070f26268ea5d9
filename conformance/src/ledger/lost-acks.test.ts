/** Uploads whose acknowledgement is lost: the cloud has them, but the machine-server does not know, and sends them again. */

import { faultProgress, type Lag, measureLag, reportFault } from '@platform/testkit';
import { expect, test } from 'vitest';
import { pauseMs, seededRandom } from '../crash/cloud-under-load.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { faultsOf, settleWorld, summaryOf } from './check-world.ts';
import { LedgerWorld } from './ledger-world.ts';

const { acks, seed } = readFaultSettings();
const components = Array.from({ length: 8 }, (_, index) => ({ name: `c${index}`, hz: 10 }));

const worlds = Math.min(2, Math.ceil(acks / 100));
let cuts = 0;

/** @returns the account of one world in which this many acknowledgements were lost, and the actual number */
async function loseIn(index: number, least: number, lag: Lag) {
  await using world = await LedgerWorld.start(components);
  world.isKept = true;
  const { proxy } = world;
  const random = seededRandom(seed + index);
  await world.startMachine();
  for (let lost = 0; lost < least; lost = await repeatedUploads(world)) {
    faultProgress(`lost acknowledgements, world ${index + 1} of ${worlds}`, lost, least);
    await pauseMs(random(0, 100));
    proxy.setFault({ kind: 'cutResponse', afterBytes: Math.floor(random(0, 60)) });
    while (proxy.responseBytes === 0) await pauseMs(5);
    cuts++;
    proxy.setFault({ kind: 'none' });
    // Until uploads go through again.
    while (proxy.responseBytes < 200) await pauseMs(5);
  }
  const account = await settleWorld(world, lag);
  const lost = await repeatedUploads(world);
  const faults = faultsOf(world, account);
  world.isKept = Object.keys(faults).length > 0;
  return { lost, account, faults };
}

test(
  `I5 I6 ${acks} lost acknowledgements: each reading is stored once`,
  async () => {
    await using lag = await measureLag();
    const each = Math.ceil(acks / worlds);
    const results = await Promise.all(Array.from({ length: worlds }, (_, index) => loseIn(index, each, lag)));
    const lost = results.reduce((sum, result) => sum + result.lost, 0);
    reportFault('lost_acks', {
      seed,
      worlds,
      cuts,
      lost_acks: lost,
      ...summaryOf(...results.map(({ account }) => account)),
    });
    expect(
      results.map(({ faults }) => faults),
      `FAULT_SEED=${seed}`,
    ).toEqual(results.map(() => ({})));
  },
  acks * 5_000 + 120_000,
);

/** How many repeated uploads the cloud has answered, because their first acknowledgement was lost. */
async function repeatedUploads({ cloud }: LedgerWorld): Promise<number> {
  const text = await (await fetch(`${cloud.url}/metrics`)).text();
  const value = (sample: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(sample))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  const method = '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload';
  const answered = value(`platform_call_seconds_count{method="${method}",code="ok"}`);
  return answered - value('platform_ingest_uploads_total');
}
