/**
 * A machine-server whose disk fails, shortens, delays and forgets calls, while it runs or starts, and then loses power: each resource
 * captures again by itself, without a restart, and what was captured is stored once or lies in a gap that was told.
 */
import {
  type CutImage,
  faultProgress,
  type Lag,
  measureLag,
  reportFault,
  seededRandom,
  tellFailure,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { pauseMs } from '../crash/cloud-under-load.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { faultsOf, settleWorld, summaryOf, type WorldAccount } from '../ledger/check-world.ts';
import { LedgerWorld } from '../ledger/ledger-world.ts';
import { capturedIn } from './captured-in.ts';
import { type FaultCase, FaultTally, faultCases } from './fault-cases.ts';
import { keepRunning } from './keep-running.ts';
import { type MachineDisk, startMachineDisk } from './machine-disk.ts';
import { strike } from './strike.ts';

const { diskFaults, seed } = readFaultSettings();
const components = [
  { name: 'fast', hz: 20 },
  { name: 'large', hz: 5, padBytes: 30_000 },
  { name: 'slow', hz: 2 },
];
const places: readonly string[] = [
  ...['capture/*.prog', 'capture/*', 'capture_alive*', 'capture_written', 'gaps.jsonl*'],
  ...['log_queue*', 'cached_cloud_config_*', '*'],
];
/** Longer than a start, which reads what is at none of its later steps. */
const faultMs = 6_000;
/** Longer than the wait between two attempts of a capture file, restarts included. */
const recoversMs = 90_000;
/** New readings of each resource before the fault, and after it. */
const some = 3;
/** They mostly wait for timers. */
const worlds = 2;

interface Outcome {
  readonly account: WorldAccount;
  readonly affected: number;
  readonly forgotten: CutImage['forgotten'];
  /** Starts on the failing disk that ended before anything was captured. */
  readonly refusedStarts: number;
  /** All other ends that the test did not cause. */
  readonly unasked: readonly string[];
  readonly faults: object;
}

/** Resolves once new readings of each resource are in the cloud, or in files if the machine has no cloud. @throws if they are not */
async function capturesOn(world: LedgerWorld, isOffline: boolean, when: string): Promise<void> {
  const from = world.source.produced.length;
  const untilMs = performance.now() + recoversMs;
  for (;;) {
    const kept = isOffline ? capturedIn(world.home) : new Set((await world.stored()).map(({ hash }) => hash));
    const made = world.source.produced.slice(from);
    const lacking = components.filter(
      ({ name }) => made.filter(({ component, hash }) => component === name && kept.has(hash)).length < some,
    );
    if (lacking.length === 0) return;
    if (performance.now() > untilMs) {
      const names = lacking.map(({ name }) => name).join(', ');
      const found = `found fewer than ${some} of ${names}; ${made.length} were produced`;
      throw new Error(
        `${when}, expected new readings of each resource within ${recoversMs / 1_000} s, ${found}\n${world.machineLog.slice(-6_000)}`,
      );
    }
    await pauseMs(250);
  }
}

/**
 * When the disk fails: at the first start, which makes all files and folders; while the machine-server runs; while it starts again after a
 * kill; or before a kill, so that the next start reads what was left, unless that kill may cost readings that nothing could note (gaps.md).
 */
type Moment = 'first' | 'running' | 'starting' | 'killed';

function momentOf({ fault, isOnce }: FaultCase, random: () => number): Moment {
  const drawn = random();
  if (drawn < 0.2) return 'first';
  if (drawn < 0.5) return 'running';
  const isNoted = isOnce || (fault.path !== '*' && fault.path !== 'capture_written');
  return isNoted && drawn < 0.75 ? 'killed' : 'starting';
}

/** Keeps the machine-server running, lets the disk fail, and waits until each resource is captured again. */
async function strikeMachine(world: LedgerWorld, disk: MachineDisk, each: FaultCase, random: () => number) {
  const moment = momentOf(each, random);
  // Then everything that is captured must survive the power cut, instead of being sent at once; and nothing is removed.
  const isOffline = random() < 0.6 && each.fault.calls?.includes('unlink') !== true;
  const goOffline = (): void => {
    if (!isOffline) return;
    world.proxy.setFault({ kind: 'refuse' });
    world.proxy.dropAll();
  };
  let isOver = false;
  // A start on a disk that fails may end, and is tried again, until it says that it runs: nothing captures yet, and a program that can open
  // none of its files has nothing to capture by. From then on no fault is a reason to end.
  let isStarting = moment === 'first';
  let mayEnd = false;
  let isKilled = false;
  let refusedStarts = 0;
  const unasked: string[] = [];
  const kill = async (): Promise<void> => {
    isKilled = true;
    await world.killMachine();
  };
  const kept = keepRunning({
    exited: () => world.machineExited,
    start: async () => {
      mayEnd = isStarting;
      world.spawnMachine();
    },
    isOver: () => isOver,
    ended: (exit) => {
      // Undefined: nothing ran before the first start.
      if (exit === undefined) return;
      if (isKilled) isKilled = false;
      else if (mayEnd && !/"msg":"running"/.test(world.machineLog)) refusedStarts++;
      else unasked.push(`ended (${moment}) with ${exit.code ?? exit.signal}: ${world.machineLog.slice(-1_000)}`);
    },
  });
  try {
    if (moment !== 'first') {
      await capturesOn(world, false, 'before the fault');
      goOffline();
    }
    if (moment === 'starting') {
      isStarting = true;
      await kill();
    }
    const affected = await strike(disk.faults, each, faultMs);
    isStarting = false;
    if (moment === 'killed') await kill();
    if (moment === 'first') await capturesOn(world, false, 'after a fault at the first start');
    goOffline();
    await capturesOn(world, isOffline, `after the fault (${moment}${isOffline ? ', offline' : ''})`);
    return { affected, refusedStarts, unasked };
  } finally {
    isOver = true;
    await kept;
  }
}

async function run(each: FaultCase, random: () => number, lag: Lag): Promise<Outcome> {
  const disk = await startMachineDisk();
  await using world = await LedgerWorld.start(components, { machine: disk });
  world.isKept = true;
  const struck = await strikeMachine(world, disk, each, random);
  await world.killMachine();
  const forgotten = await disk.cutPower(random);
  world.proxy.setFault({ kind: 'none' });
  await world.startMachine();
  const account = await settleWorld(world, lag);
  const faults = faultsOf(world, account);
  world.isKept = Object.keys(faults).length > 0;
  return { account, ...struck, forgotten, faults };
}

test(
  `C5 C9 I5 I6 after each of ${diskFaults} faults of the disk each resource is captured again without a restart, and a power cut loses nothing that is not told`,
  async () => {
    await using lag = await measureLag();
    const cases = faultCases(places, diskFaults, seededRandom(seed));
    const outcomes: Outcome[] = [];
    const failures: string[] = [];
    const tally = new FaultTally(cases);
    const fail = ({ name }: FaultCase, found: string): void => {
      failures.push(`${name}: ${found}`);
      tellFailure('disk of a machine-server', `${name}: ${found}`);
    };
    let done = 0;
    const work = async (left: Iterable<[number, FaultCase]>): Promise<void> => {
      for (const [index, each] of left) {
        const outcome = await run(each, seededRandom(seed + index), lag).catch((caught: unknown) => String(caught));
        if (typeof outcome === 'string') fail(each, outcome);
        else {
          outcomes.push(outcome);
          tally.count(each, outcome.affected);
          if (Object.keys(outcome.faults).length > 0) fail(each, JSON.stringify(outcome.faults));
          for (const end of outcome.unasked) fail(each, `expected no restart, found that it ${end}`);
        }
        faultProgress('disk of a machine-server', ++done, cases.length);
      }
    };
    const workAt = async (list: readonly FaultCase[]): Promise<void> => {
      const left = list.entries();
      await Promise.all(Array.from({ length: worlds }, () => work(left)));
    };
    await workAt(cases);
    await workAt(tally.again);
    const { missed } = tally;
    const forgotten = {
      names: outcomes.reduce(
        (sum, { forgotten: { create, mkdir, link, rename } }) => sum + create + mkdir + link + rename,
        0,
      ),
      removals: outcomes.reduce((sum, { forgotten: { unlink } }) => sum + unlink, 0),
    };
    reportFault('machine_disk', {
      ...{ seed, faults: cases.length, hit: outcomes.filter(({ affected }) => affected > 0).length },
      refusedStarts: outcomes.reduce((sum, { refusedStarts }) => sum + refusedStarts, 0),
      restarts: outcomes.reduce((sum, { unasked }) => sum + unasked.length, 0),
      ...summaryOf(...outcomes.map(({ account }) => account)),
      ...{ forgotten, missed },
      failures: failures.length,
    });
    expect(failures, `FAULT_SEED=${seed}`).toEqual([]);
    // Others, such as truncating, may not happen at all below this program: the report names them.
    // A few faults need not remove anything.
    if (diskFaults < 60) return;
    expect(missed, 'kinds that have affected no call').not.toContain('removing is forgotten');
    expect(Math.min(forgotten.names, forgotten.removals), 'that power cuts forgot').toBeGreaterThan(0);
  },
  diskFaults * 300_000,
);
