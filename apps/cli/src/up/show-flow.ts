import { jsonIn } from '@platform/base/json-in';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import type { Demo } from '../invocation/read-demo.ts';
import type { Output, Row, ShownWebhook } from './output.ts';
import { pause } from './pause.ts';

export interface ShowFlowOptions {
  readonly url: string;
  /** PEM of the certificates to trust instead of the system's. */
  readonly ca: string | undefined;
  readonly demo: Demo;
  /** Whether this start made the data directory: a later one shows no queries and no webhook. */
  readonly isFirst: boolean;
  /** Shows only readings that arrived after this time. */
  readonly startedAt: Date;
  /** How often the cloud was started. */
  readonly starts: () => number;
  /** From a monotonic clock. */
  readonly nowMs: () => number;
  readonly output: Output;
  readonly signal: AbortSignal;
}

interface Showing extends ShowFlowOptions {
  readonly trouble: (caught: unknown) => void;
}

const pollMs = 200;
const statusEveryMs = 5_000;
const firstReadings = 3;

/** Shows the first readings, then queries and a webhook or a summary, then the current rates, until aborted. Failed calls are repeated. */
export async function showFlow(asked: ShowFlowOptions): Promise<void> {
  const say = createTroubleReporter(asked.output, asked.nowMs);
  const options = { ...asked, trouble: (caught: unknown): void => (asked.signal.aborted ? undefined : say(caught)) };
  const { url, ca, demo, isFirst, output, signal } = options;
  await using cloud = openCloud({ url, keyId: demo.keyId, key: demo.key, ca, signal });
  const lastTime = await showFirstReadings(cloud, options);
  if (isFirst) {
    await showQueries(cloud, options);
    const webhook = await untilFound(options, async () => (await webhooksAfter(cloud, 0))[0]);
    if (webhook) output.webhook(webhook);
  } else {
    const stored = await untilFound(options, async () => (await cloud.queryMql(demo.organizationId, allRows))[0]);
    if (stored) output.resumed(Number(stored['readings']));
  }
  await showStatus(cloud, options, lastTime);
}

/** Shows each new row once; returns the time at which the last of them was stored. */
async function showFirstReadings(cloud: Cloud, options: Showing): Promise<Date> {
  const { demo, startedAt, output } = options;
  const pipeline = [
    { $match: { time_synced: { $gte: startedAt } } },
    { $sort: { time_synced: 1, time_received: 1 } },
    { $limit: firstReadings },
  ];
  let shown = 0;
  let last = startedAt;
  await untilFound(options, async () => {
    const rows = await cloud.queryMql(demo.organizationId, pipeline);
    for (const row of rows.slice(shown)) output.reading(row);
    shown = Math.max(shown, rows.length);
    const synced = rows.at(-1)?.['time_synced'];
    if (synced instanceof Date) last = synced;
    return shown >= firstReadings ? true : undefined;
  });
  return last;
}

async function showQueries(cloud: Cloud, options: Showing): Promise<void> {
  const { demo, startedAt, output } = options;
  const mql = sampleMql(startedAt);
  const rows = await untilFound(options, async () => some(await cloud.queryMql(demo.organizationId, mql)));
  if (rows) output.query({ language: 'mql', query: mql, rows });
  const sqlRows = await untilFound(options, async () => some(await cloud.querySql(demo.organizationId, sampleSql)));
  if (sqlRows) output.query({ language: 'sql', query: sampleSql, rows: sqlRows });
}

function some<T>(rows: readonly T[]): readonly T[] | undefined {
  return rows.length > 0 ? rows : undefined;
}

async function showStatus(cloud: Cloud, options: Showing, since: Date): Promise<void> {
  const { demo, starts, output, signal, trouble } = options;
  let after = since;
  let caught = 0;
  let caughtEarlier = 0;
  let start = starts();
  while (await pause(statusEveryMs, signal)) {
    // A failed call is repeated in the next round.
    const failed = (error: unknown): [] => {
      trouble(error);
      return [];
    };
    // Each run of the cloud counts from 1.
    if (starts() !== start) [start, caughtEarlier, caught] = [starts(), caughtEarlier + caught, 0];
    const [row] = await cloud.queryMql(demo.organizationId, newRows(after)).catch(failed);
    const newest = (await webhooksAfter(cloud, caught).catch(failed)).at(-1);
    caught = newest?.id ?? caught;
    const last = row?.['last'] instanceof Date ? row['last'] : after;
    const seconds = (last.getTime() - after.getTime()) / 1_000;
    after = last;
    output.status({
      readingsPerSecond: seconds > 0 ? Number(row?.['readings']) / seconds : 0,
      webhooks: caughtEarlier + caught,
    });
  }
}

const allRows: Row[] = [{ $group: { _id: null, readings: { $sum: 1 } } }];

function newRows(after: Date): Row[] {
  return [
    { $match: { time_synced: { $gt: after } } },
    { $group: { _id: null, readings: { $sum: 1 }, last: { $max: '$time_synced' } } },
  ];
}

/** Webhooks that the test inbox received after number `after` in this run (from 1), oldest first. */
async function webhooksAfter(cloud: Cloud, after: number): Promise<ShownWebhook[]> {
  const { requests } = (await cloud.getJson(`/test-inbox/requests?after=${after}`)) as { requests: Caught[] };
  return requests.map((request) => ({
    ...request,
    receivedAt: new Date(request.receivedAt).toISOString(),
    body: typeof request.body === 'string' ? (jsonIn(request.body) ?? request.body) : request.body,
  }));
}

type Caught = Omit<ShownWebhook, 'receivedAt'> & { readonly receivedAt: number };

/** Polls until `find` finds something; undefined when aborted. Failures are reported and repeated. */
async function untilFound<T>(options: Showing, find: () => Promise<T | undefined>): Promise<T | undefined> {
  const { signal, trouble } = options;
  do {
    try {
      const found = await find();
      if (found !== undefined) return found;
    } catch (error) {
      trouble(error);
    }
  } while (await pause(pollMs, signal));
  return undefined;
}

/**
 * The sample queries of docs/guides/first-steps.md; `platform up` shows them with their rows. For each component: the number of readings
 * since `since`, the mean processor load, and the time of the last reading.
 */
function sampleMql(since: Date): Readonly<Record<string, unknown>>[] {
  return [
    // As Extended JSON, so that the shown pipeline can be pasted into `platform query mql`.
    { $match: { time_received: { $gte: { $date: since.toISOString() } } } },
    {
      $group: {
        _id: '$component_name',
        readings: { $sum: 1 },
        mean_cpu_percent: { $avg: '$data.readings.cpu_percent' },
        last: { $max: '$time_received' },
      },
    },
    { $sort: { _id: 1 } },
  ];
}

/** The three newest readings of this computer. */
const sampleSql: string =
  'SELECT time_received, data.readings.cpu_percent AS cpu_percent, data.readings.memory_used_percent AS memory_used_percent, data.readings.uptime_seconds AS uptime_seconds ' +
  "FROM readings WHERE component_name = 'host' ORDER BY time_received DESC LIMIT 3";

const sameAgainMs = 60_000;

/** Reports why nothing can be shown: a new reason at once, the same one at most once a minute. @param nowMs of a monotonic clock */
export function createTroubleReporter(output: Pick<Output, 'logged'>, nowMs: () => number): (caught: unknown) => void {
  const saidAt = new Map<string, number>();
  return (caught) => {
    const text = caught instanceof Error ? caught.message : String(caught);
    const now = nowMs();
    if (now - (saidAt.get(text) ?? Number.NEGATIVE_INFINITY) < sameAgainMs) return;
    if (saidAt.size >= 100) saidAt.clear();
    saidAt.set(text, now);
    output.logged('platform', `cannot show the readings, trying again: ${text}`);
  };
}
