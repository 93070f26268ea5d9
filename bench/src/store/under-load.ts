/** (c) Uploads at a given rate while four clients query without a pause; DuckDB is queried under the same load. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { encodeBson } from '@platform/query';
import { connect, type Link } from '@platform/rpc/client';
import { openTypedColumns } from '../../limits/typed-columns.ts';
import { scratch } from '../cloud/scratch.ts';
import { startProcess } from '../cloud/server-process.ts';
import { percentile } from '../figures/statistics.ts';
import { runGenerator } from '../fleet/run-generator.ts';
import { bsonOf } from '../readings/bson-of.ts';
import { askInTurns, type Latencies } from './ask-in-turns.ts';
import type { Figure } from './figure.ts';
import { countOf, type FleetWithReadings, readingsEach, startFleetWithReadings } from './fleet-with-readings.ts';
import { type Asked, asked, seriesOfFleet } from './questions.ts';

export interface UnderLoadOptions {
  /** Readings that exist before the load. */
  readonly readings: number;
  readonly seconds: number;
}

interface Rate {
  readonly perSecond: number;
  readonly mostAckMs: number;
}

const rates: readonly Rate[] = [
  { perSecond: 20_000, mostAckMs: 30 },
  { perSecond: 50_000, mostAckMs: 50 },
];
const dashboard = asked.filter(({ name }) => name === 'group, MQL' || name === 'per minute, MQL');

export async function underLoad(options: UnderLoadOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  const { perSecond = 0 } = rates[0] ?? {};
  const byTurns = await askedUnderLoad(options, perSecond, dashboard);
  const all = [...byTurns.latencies.values()].flat();
  const name = `c ${perSecond}/s, group and per minute by turns`;
  const note = `${all.length} answers, ${byTurns.failures} failed`;
  figures.push(
    { name: `${name}: p50`, value: percentile(all, 0.5), unit: 'ms', most: 150, aim: 60, note },
    { name: `${name}: p99`, value: percentile(all, 0.99), unit: 'ms', most: 1_000, aim: 200 },
  );
  for (const rate of rates) figures.push(...(await allShapes(options, rate)));
  return figures;
}

async function allShapes(options: UnderLoadOptions, { perSecond, mostAckMs }: Rate): Promise<Figure[]> {
  const ours = await askedUnderLoad(options, perSecond, asked);
  const peer = await peerUnderLoad(options, perSecond);
  const figures = asked.map((each): Figure => {
    const latencies = ours.latencies.get(each.name) ?? [];
    return {
      name: `c ${perSecond}/s ${each.name}: p50`,
      ...{ value: percentile(latencies, 0.5), unit: 'ms', mostRatio: 3 },
      beside: percentile(peer.get(each.name) ?? [], 0.5),
      note: `p99 ${percentile(latencies, 0.99).toFixed(0)} ms; beside DuckDB under the same load`,
    };
  });
  const failed = ours.failures > 0 ? `; ${ours.failures} questions failed` : '';
  const note = `p50 ${percentile(ours.acknowledgedMs, 0.5).toFixed(1)} ms; beside bare writes and syncs, meanwhile${failed}`;
  const acknowledgement: Figure = {
    name: `c ${perSecond}/s acknowledgement: p99`,
    ...{ value: percentile(ours.acknowledgedMs, 0.99), unit: 'ms', most: mostAckMs },
    beside: percentile(ours.syncedMs, 0.99),
    note,
  };
  return [...figures, acknowledgement];
}

interface OursUnderLoad {
  readonly latencies: Latencies;
  readonly failures: number;
  readonly acknowledgedMs: readonly number[];
  /** Bare writes and syncs at the rate of the uploads, meanwhile. */
  readonly syncedMs: readonly number[];
}

async function askedUnderLoad(
  { readings, seconds }: UnderLoadOptions,
  perSecond: number,
  all: readonly Asked[],
): Promise<OursUnderLoad> {
  await using filled = await startFleetWithReadings(readings);
  const { cloud } = filled;
  await using link = connect({
    baseUrl: cloud.running.url,
    credentials: { entity: cloud.keyId, type: 'api-key', payload: cloud.key },
    timeoutMs: 60_000,
    maxMessageBytes: 80 << 20,
  });
  const ask = (each: Asked): Promise<void> => askCloud(link, cloud.organizationId, each);
  // Warms up, so that compilation is not measured.
  for (const each of all) await ask(each);
  const over = new AbortController();
  let asking: ReturnType<typeof askInTurns> | undefined;
  await using sync = await startBareSync(perSecond / readingsEach);
  const acknowledgedMs = await load(filled, seconds, perSecond, () => {
    asking = askInTurns(all, ask, over.signal);
  });
  const syncedMs = await sync.latenciesMs();
  over.abort();
  const { latencies = new Map(), failures = 0 } = (await asking) ?? {};
  const acknowledged = filled.readings + perSecond * seconds;
  const counted = await countOf(cloud);
  if (counted !== acknowledged) throw new Error(`acknowledged ${acknowledged} readings, a query counts ${counted}`);
  return { latencies, failures, acknowledgedMs, syncedMs };
}

/** Answers are not decoded, so that the clients leave the CPU to the cloud. */
async function askCloud(
  link: Link,
  organizationId: string,
  { question: { mql, sql }, language }: Asked,
): Promise<void> {
  const data = link.client(DataService);
  if (language === 'SQL') await data.tabularDataBySQL({ organizationId, sqlQuery: sql ?? '' });
  else
    await data.tabularDataByMQL({
      organizationId,
      mqlBinary: mql.map((stage) => encodeBson(bsonOf(stage) as Parameters<typeof encodeBson>[0])),
    });
}

/** @returns latencies of acknowledgements, without those of the first second, while the generator's code is still being compiled. */
async function load(
  { cloud, fleet }: FleetWithReadings,
  seconds: number,
  perSecond: number,
  onStarted: () => void,
): Promise<readonly number[]> {
  const batchesPerSecond = perSecond / readingsEach;
  const batches = batchesPerSecond * seconds;
  const { latenciesMs } = await runGenerator(
    { url: cloud.running.url, fleet },
    { batches, readingsEach, inFlight: batches, batchesPerSecond },
    onStarted,
  );
  return latenciesMs.slice(batchesPerSecond);
}

/** Starts bare-sync.ts on the disk of the benches. */
async function startBareSync(perSecond: number) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(scratch());
  const entry = fileURLToPath(new URL('../processes/bare-sync.ts', import.meta.url));
  const args = [...process.execArgv, entry, join(folder.path, 'bare-sync'), String(perSecond)];
  const syncing = stack.use(startProcess(process.execPath, args));
  await syncing.event('ready');
  const kept = stack.move();
  return {
    async latenciesMs(): Promise<readonly number[]> {
      syncing.write('stop');
      return (await syncing.event('synced'))['latenciesMs'] as number[];
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Uses the readings that exist in the middle of the load. */
async function peerUnderLoad({ readings, seconds }: UnderLoadOptions, perSecond: number): Promise<Latencies> {
  using folder = scratch();
  (await openTypedColumns(folder.path, readings + (perSecond * seconds) / 2, { seriesAt: seriesOfFleet }))[
    Symbol.dispose
  ]();
  await using filled = await startFleetWithReadings(readings);
  const entry = fileURLToPath(new URL('../processes/peer.ts', import.meta.url));
  const file = join(folder.path, 'typed-columns.parquet');
  await using peer = startProcess(process.execPath, [...process.execArgv, entry, file]);
  await peer.event('ready');
  await load(filled, seconds, perSecond, () => peer.write('start'));
  peer.write('stop');
  const { latencies } = (await peer.event('asked')) as { latencies: [string, number[]][] };
  return new Map(latencies);
}
