/**
 * A machine-server and a cloud over a network that freezes, drops, delays, cuts, repeats and reorders, alone and mixed, in one direction or
 * both: after each time the network is whole, and uploads, polls and calls through the cloud return. Nothing is lost or doubled.
 */
import {
  faultProgress,
  type Lie,
  lies,
  measureLag,
  reportFault,
  seededRandom,
  startLyingProxy,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { linkOfOwner, pauseMs } from '../crash/cloud-under-load.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { faultsOf, settleWorld, summaryOf } from '../ledger/check-world.ts';
import { LedgerWorld } from '../ledger/ledger-world.ts';
import { type Recovery, watchRecovery } from './watch-recovery.ts';

const { linkSeconds, linkBounds, seed } = readFaultSettings();
const components = [
  { name: 'fast', hz: 20 },
  { name: 'large', hz: 5, padBytes: 3_000 },
  { name: 'slow', hz: 1 },
];
const refreshMs = 5_000;
/** Longer than a connection may be silent before it is given up, so that this happens, too. */
const longestLieMs = 40_000;

interface Round extends Recovery {
  readonly kinds: readonly Lie[];
  readonly directions: string;
  readonly lieMs: number;
}

const longest = (rounds: readonly Round[], of: (round: Round) => number): number => Math.max(0, ...rounds.map(of));

test(
  `I2 I5 a network that lies for ${linkSeconds} s: each reading is stored once, and when the network is whole, uploads and calls return`,
  async () => {
    await using lag = await measureLag();
    const random = seededRandom(seed);
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    await using network = new AsyncDisposableStack();
    let lie: Awaited<ReturnType<typeof startLyingProxy>>['lie'] = () => {};
    await using world = await LedgerWorld.start(
      components,
      {},
      {
        refreshInterval: `${refreshMs}ms`,
        async through(port) {
          const proxy = network.use(await startLyingProxy({ host: '127.0.0.1', port }, random));
          lie = proxy.lie;
          return proxy.port;
        },
      },
    );
    world.isKept = true;
    await using owner = linkOfOwner(world.cloud);
    const names = components.map(({ name }) => name);
    await world.startMachine();
    const first = await watchRecovery(world, owner, names);
    expect(first.unreachable).toEqual([]);

    const startMs = performance.now();
    const rounds: Round[] = [];
    // Each kind alone, in random order, before mixtures.
    const alone = lies.toSorted(() => random() - 0.5);
    while (performance.now() - startMs < linkSeconds * 1_000) {
      const single = alone.pop();
      const kinds = single === undefined ? lies.filter(() => random() < 0.5) : [single];
      const directions = pick([['requests', 'answers'], ['requests'], ['answers']] as const);
      const shortMs = 500 + random() * 6_000;
      const lieMs = Math.round(Math.min(random() < 0.5 ? shortMs : random() * longestLieMs, linkSeconds * 500));
      lie(kinds, directions);
      await pauseMs(lieMs);
      lie([]);
      const recovery = await watchRecovery(world, owner, names);
      rounds.push({ ...recovery, kinds, directions: directions.join(' '), lieMs });
      faultProgress('a network that lies, seconds', Math.round((performance.now() - startMs) / 1_000), linkSeconds);
    }

    const account = await settleWorld(world, lag);
    const faults = faultsOf(world, account);
    const unreachable = rounds.flatMap((round) => round.unreachable);
    reportFault('link', {
      ...{ seed, rounds: rounds.length, lagMs: Math.round(lag.longestMs) },
      longestUploadMs: longest(rounds, ({ uploadMs }) => uploadMs),
      longestPollMs: longest(rounds, ({ pollMs }) => pollMs),
      longestRelayMs: longest(rounds, ({ relayMs }) => relayMs),
      ...{ unreachable: unreachable.length, ...summaryOf(account) },
      slowest: rounds.toSorted((a, b) => b.uploadMs + b.relayMs - a.uploadMs - a.relayMs).slice(0, 3),
    });
    expect(faults, `FAULT_SEED=${seed}`).toEqual({});
    expect(unreachable, `FAULT_SEED=${seed}`).toEqual([]);
    const late = rounds.filter(
      ({ uploadMs, relayMs, pollMs }) =>
        uploadMs > linkBounds.uploadMs || relayMs > linkBounds.relayMs || pollMs > refreshMs + linkBounds.pollMs,
    );
    expect(late, `FAULT_SEED=${seed}`).toEqual([]);
    world.isKept = false;
  },
  linkSeconds * 4_000 + 300_000,
);
