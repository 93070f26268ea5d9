/** Runs each organization's queries every second; an impossible answer is a failure. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cloud } from '@platform/sdk/cloud';
import { type Totals, warm } from './generated-readings.ts';
import type { Tenant } from './start-limited.ts';
import type { Uploaded } from './start-uploading.ts';

export interface Asked {
  readonly latenciesMs: readonly number[];
  /** Failures, and how often each occurred. */
  readonly failures: ReadonlyMap<string, number>;
}

export interface Asking extends Asked {
  /** Stops asking; resolves once all queries are answered. */
  stop(): Promise<void>;
}

export interface Asker {
  readonly tenant: Tenant;
  readonly uploaded: Uploaded;
}

type Stages = Parameters<Cloud['queryMql']>[1];

/** @param insists query every second even if earlier queries are unanswered; otherwise wait for these and for the second to pass. */
export function askEachSecond(client: Cloud, askers: readonly Asker[], insists: boolean): Asking {
  const latenciesMs: number[] = [];
  const failures = new Map<string, number>();
  const fail = (name: string, { organizationId }: Tenant, fault: string): void => {
    const text = `${name}: ${fault.replaceAll(organizationId, '…')}`;
    failures.set(text, (failures.get(text) ?? 0) + 1);
  };
  const under = new Set<Promise<void>>();
  const over = new AbortController();

  const ask = async ({ tenant, uploaded }: Asker, name: string, check: Check): Promise<void> => {
    const before = { ...uploaded };
    const started = performance.now();
    try {
      const fault = check(await client.queryMql(tenant.organizationId, stagesOf[name] as Stages), before, uploaded);
      if (fault !== undefined) fail(name, tenant, fault);
    } catch (caught) {
      fail(name, tenant, String(caught));
    }
    latenciesMs.push(performance.now() - started);
  };
  const run = async (): Promise<void> => {
    while (!over.signal.aborted) {
      for (const asker of askers) {
        for (const [name, check] of Object.entries(checks)) {
          const asked = ask(asker, name, check).finally(() => under.delete(asked));
          under.add(asked);
        }
      }
      if (!insists) await Promise.all(under);
      await sleep(1_000, undefined, { signal: over.signal }).catch(() => {});
    }
  };
  const finished = run();
  return {
    latenciesMs,
    failures,
    async stop() {
      over.abort();
      await finished;
      await Promise.all(under);
    },
  };
}

export async function totalsOf(client: Cloud, { organizationId }: Tenant): Promise<Totals> {
  const [row] = await client.queryMql(organizationId, [
    { $match: ours },
    {
      $group: {
        _id: null,
        readings: { $sum: 1 },
        numbers: { $sum: '$data.readings.n' },
        textBytes: { $sum: '$data.readings.length' },
        warm: { $sum: { $cond: [{ $gte: ['$data.readings.temperature', warm] }, 1, 0] } },
      },
    },
    { $project: { _id: 0 } },
  ]);
  const of = (name: keyof Totals): number => Number(row?.[name] ?? 0);
  return { readings: of('readings'), numbers: of('numbers'), textBytes: of('textBytes'), warm: of('warm') };
}

const ours = { component_name: 'sizes' };

const stagesOf: Readonly<Record<string, Stages>> = {
  count: [{ $match: ours }, { $count: 'n' }],
  '1 % filter': [
    { $match: { ...ours, 'data.readings.temperature': { $gte: warm } } },
    { $project: { _id: 0, time_received: 1, n: '$data.readings.n', temperature: '$data.readings.temperature' } },
  ],
  'newest large reading': [
    { $match: { ...ours, 'data.readings.large': true } },
    { $sort: { time_received: -1 } },
    { $limit: 1 },
  ],
};

/** The problem with the answer; `before`: readings acknowledged before the query, `after`: readings sent when the answer arrived. */
type Check = (
  rows: readonly Readonly<Record<string, unknown>>[],
  before: Uploaded,
  after: Uploaded,
) => string | undefined;

const checks: Readonly<Record<string, Check>> = {
  count: ([row], { totals }, { sent }) => between(Number(row?.['n'] ?? 0), totals.readings, sent.readings),
  '1 % filter': (rows, { totals }, { sent }) => between(rows.length, totals.warm, sent.warm),
  'newest large reading': ([row], { newestLargeMs }) => {
    if (newestLargeMs === 0) return undefined;
    const time = row?.['time_received'];
    const { text = '', length } = (row?.['data'] as { readings?: { text?: string; length?: number } })?.readings ?? {};
    if (!(time instanceof Date) || time.getTime() < newestLargeMs)
      return `expected one of ${newestLargeMs} ms or later, found ${String(time)}`;
    return text.length === length ? undefined : `expected a text of ${length} characters, found ${text.length}`;
  },
};

function between(found: number, least: number, most: number): string | undefined {
  return found >= least && found <= most ? undefined : `expected ${least} to ${most}, found ${found}`;
}
