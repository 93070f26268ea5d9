import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Gap, GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { type Account, accountFor, type Lag, type LedgerReport, type ReportedGap } from '@platform/testkit';
import type { LedgerWorld } from './ledger-world.ts';

/** A produced reading can be missing for these reasons; for other reasons, none was produced. */
const lossReasons: ReadonlyMap<GapReason, { readonly name: string; readonly isBound: boolean }> = new Map([
  [GapReason.CRASH, { name: 'crash', isBound: true }],
  // A reading that arrives after its capture has ended, or that waited for the disk at a stop; most are ticks that were not taken.
  [GapReason.MISSED, { name: 'missed', isBound: true }],
  [GapReason.QUEUE_FULL, { name: 'queue-full', isBound: true }],
  [GapReason.UNWRITTEN, { name: 'unwritten', isBound: true }],
  [GapReason.FAILED, { name: 'failed', isBound: true }],
  [GapReason.DISCARDED, { name: 'discarded', isBound: false }],
  [GapReason.TOO_LARGE, { name: 'too-large', isBound: false }],
]);
/** Maximum time from the production of a reading to its arrival in the machine-server; the lag of a busy computer is added. */
const slackMs = 300;

export interface WorldAccount extends Account {
  readonly report: LedgerReport;
  readonly produced: number;
  readonly longestCrashGapMs: number;
}

/** Settles the world, and checks it. */
export async function settleWorld(world: LedgerWorld, lag: Lag): Promise<WorldAccount> {
  await world.settle(async () => (await checkWorld(world, lag.longestMs)).unexplained.length === 0);
  return await checkWorld(world, lag.longestMs);
}

/** @param lagMs the maximum lag of the computer */
async function checkWorld(world: LedgerWorld, lagMs: number): Promise<WorldAccount> {
  const [stored, gaps] = [await world.stored(), await world.gaps()];
  const { produced } = world.source;
  const reported = gaps.flatMap(reportedGap);
  const crashes = gaps.filter(({ reason }) => reason === GapReason.CRASH);
  return {
    ...accountFor({ produced, stored, gaps: reported, slackMs: slackMs + lagMs }),
    report: world.ledger.check(stored),
    produced: produced.length,
    longestCrashGapMs: Math.max(0, ...crashes.map(({ start, end }) => msOf(end) - msOf(start))),
  };
}

function reportedGap({ componentName, reason, start, end, readings }: Gap): ReportedGap[] {
  const known = lossReasons.get(reason);
  if (known === undefined) return [];
  return [
    {
      ...{ component: componentName, reason: known.name, isBound: known.isBound },
      ...{ startMs: msOf(start), endMs: msOf(end), readings: Number(readings) },
    },
  ];
}

function msOf(time: Gap['start']): number {
  return time === undefined ? Number.NaN : timestampMs(time);
}

/** The figures that a run prints; for several worlds, their sums. */
export function summaryOf(...accounts: readonly WorldAccount[]) {
  const sum = (count: (account: WorldAccount) => number): number =>
    accounts.reduce((all, account) => all + count(account), 0);
  const reasons = new Set(accounts.flatMap(({ byReason }) => Object.keys(byReason)));
  return {
    produced: sum(({ produced }) => produced),
    stored: sum(({ report }) => report.found),
    gaps: Object.fromEntries([...reasons].map((reason) => [reason, sum(({ byReason }) => byReason[reason] ?? 0)])),
    longestCrashGapMs: Math.max(...accounts.map(({ longestCrashGapMs }) => longestCrashGapMs)),
    lost: sum(({ unexplained, report }) => unexplained.length + report.lost.length),
    doubled: sum(({ report }) => report.duplicated.length),
    damaged: sum(({ report }) => report.bad.length),
    invented: sum(({ report }) => report.phantom.length),
  };
}

/** The faults, which must be empty, with the folders to inspect; long lists are truncated. */
export function faultsOf(world: LedgerWorld, { report, unexplained, overstated }: WorldAccount) {
  const { lost, duplicated, bad, phantom } = report;
  const faults = { lost, duplicated, bad, phantom, unexplained, overstated };
  const found = Object.entries(faults).filter(([, list]) => list.length > 0);
  const folders = [world.home, world.cloud.directory];
  return found.length === 0
    ? {}
    : { folders, ...Object.fromEntries(found.map(([name, list]) => [name, list.slice(0, 50)])) };
}
