/**
 * The ledger test on disks that fill up at random instants and are freed again: no captured reading is lost, and capture resumes by itself.
 */

import {
  faultProgress,
  type Lag,
  layeredDisk,
  measureLag,
  mountedDisk,
  mountFault,
  reportFault,
  type SmallDisk,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { pauseMs, seededRandom } from '../crash/cloud-under-load.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { faultsOf, settleWorld, summaryOf } from './check-world.ts';
import { LedgerWorld } from './ledger-world.ts';

const { disks: times } = readFaultSettings();
// At any instants, two full disks would sometimes be full too shortly for an upload to be refused.
const seed = Number(process.env['FAULT_SEED'] ?? 20_261_121);
const mebibyte = 1024 * 1024;
const diskBytes = 16 * mebibyte;
/** Uploads are refused below this much free space (I13). */
const reserveBytes = 512 * mebibyte;
const components = [
  { name: 'fast', hz: 20 },
  { name: 'large', hz: 10, padBytes: 30_000 },
  { name: 'slow', hz: 4 },
];
/** The configuration changes only at the end. */
const network = { refreshInterval: '1s' };

type Random = ReturnType<typeof seededRandom>;

/** Resolves once every component has produced this many new readings. */
async function resumes({ source }: LedgerWorld, readings = 3): Promise<void> {
  const from = source.produced.length;
  const isMissing = ({ name }: { readonly name: string }): boolean =>
    source.produced.slice(from).filter(({ component }) => component === name).length < readings;
  while (components.some(isMissing)) await pauseMs(50);
}

/** Fills a machine-server's disk for some time, in which readings wait in memory; frees it, and waits until capture resumes. */
async function fillMachine(world: LedgerWorld, disk: SmallDisk, random: Random, isLong: boolean): Promise<void> {
  const { proxy } = world;
  await pauseMs(random(0, 1_500));
  // So that files stay and also take space.
  if (isLong || random(0, 1) < 0.5) proxy.setFault({ kind: 'refuse' });
  proxy.dropAll();
  disk.fill(Math.floor(random(0, 300_000)));
  await pauseMs(isLong ? 10_000 : random(100, 3_000));
  disk.empty();
  proxy.setFault({ kind: 'none' });
  await resumes(world);
}

/** @returns the figures, and the faults, which must be empty */
async function runMachine(
  kind: string,
  disk: SmallDisk,
  lag: Lag,
): Promise<{ readonly figures: object; readonly faults: object }> {
  await using world = await LedgerWorld.start(components, { machine: disk }, network);
  world.isKept = true;
  const random = seededRandom(seed);
  await world.startMachine();
  for (let time = 0; time < times; time++) {
    await fillMachine(world, disk, random, time % 4 === 1);
    faultProgress(`full disks of machine-servers, ${kind}`, time + 1, times);
  }
  const account = await settleWorld(world, lag);
  const faults = faultsOf(world, account);
  world.isKept = Object.keys(faults).length > 0;
  const failedWrites = world.machineLog.split(/writing captured readings failed.*no space left/).length - 1;
  expect(failedWrites).toBeGreaterThan(0);
  return { figures: { full: times, failedWrites, ...summaryOf(account) }, faults };
}

test.concurrent(
  `I6 C5 C8 a machine-server whose disk of 16 MB runs full ${times} times loses nothing that was captured, and captures again by itself`,
  async () => {
    await using lag = await measureLag();
    const fault = mountFault();
    const kinds = { layered: layeredDisk(diskBytes), ...(fault === undefined && { mounted: mountedDisk(diskBytes) }) };
    const results = await Promise.all(
      Object.entries(kinds).map(async ([kind, disk]) => ({ kind, ...(await runMachine(kind, disk, lag)) })),
    );
    const figures = Object.fromEntries(results.map((result) => [result.kind, result.figures]));
    reportFault('full_disk_machine', {
      seed,
      ...(fault !== undefined && { mounted: `not here: ${fault}` }),
      ...figures,
    });
    expect(
      results.map(({ kind, faults }) => [kind, faults]),
      `FAULT_SEED=${seed}`,
    ).toEqual(Object.keys(kinds).map((kind) => [kind, {}]));
  },
  times * 120_000 + 120_000,
);

test.concurrent(
  `I2 I5 I13 a cloud whose disk of 16 MB above its reserve fills up ${times} times has all acknowledged readings, and accepts uploads again by itself`,
  async () => {
    await using lag = await measureLag();
    const disk = mountedDisk(reserveBytes + 3 * diskBytes);
    await using world = await LedgerWorld.start(components, { cloud: disk }, network);
    world.isKept = true;
    const random = seededRandom(seed);
    await world.startMachine();
    let refusals = 0;
    for (let time = 0; time < times; time++) {
      await pauseMs(random(0, 1_500));
      const before = await world.storedCount();
      // To the last byte, while the cloud still assumes free space; or so that it refuses first.
      disk.fill(random(0, 1) < 0.7 ? 0 : Math.floor(random(0, reserveBytes)));
      await pauseMs(random(100, 4_000));
      refusals += world.waiting().filter((name) => name.endsWith('.capture')).length > 0 ? 1 : 0;
      disk.empty();
      while ((await world.storedCount()) <= before) await pauseMs(250);
      faultProgress('full disks of clouds', time + 1, times);
    }
    const account = await settleWorld(world, lag);
    expect(world.machineLog).toMatch(/resource_exhausted/);
    reportFault('full_disk_cloud', { seed, full: times, refusals, ...summaryOf(account) });
    expect(faultsOf(world, account), `FAULT_SEED=${seed}`).toEqual({});
    world.isKept = false;
  },
  times * 120_000 + 120_000,
);
