/**
 * The list of what an organization has stored, as the Data page asks for it: pages, searches and choices over 20,000 series, also in the
 * first moment after a start.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { create, toBinary } from '@bufbuild/protobuf';
import { silentLog, systemClock } from '@platform/base';
import {
  ListSeriesRequestSchema,
  type ListSeriesResponse,
  ListSeriesResponseSchema,
} from '@platform/proto/platform/series/v1/series';
import { cpuSeconds, processTree } from '@platform/testkit';
import type { CloudCall } from '../../apps/cloud/src/access/principal.ts';
import { createQueries, type Queries } from '../../apps/cloud/src/queries/feature.ts';
import { namesAfterMs } from '../../apps/cloud/src/queries/series/series-index.ts';
import { encodeStruct } from '../../apps/cloud/src/tabular/testing/encode-struct.ts';
import { type OpenTabular, openTabular, wholeOrganization } from '../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { scratch } from './cloud/scratch.ts';
import { median } from './figures/statistics.ts';
import { caughtUp } from './queries/fill.ts';
import { documentAt, largeFleet, sensorName, seriesCount } from './readings/large-fleet.ts';
import type { Figure } from './store/figure.ts';

const { machines, sensors, everyMs } = largeFleet;
const locations = 20;
const uploadReadings = 10;
/** The requirement for the first content of a page. */
const mostMs = 1_000;

/** From the start until the first person has loaded the page. */
const personMs = 2_000;
/** No other call may be held up longer (ADR-0055). */
const mostHoldMs = 250;
const all = seriesCount;

/** Of hot rows, then of the same rows after they were sealed; each also after a restart of the store. */
export async function measureSeries({ readings, runs }: { readings: number; runs: number }): Promise<Figure[]> {
  using folder = scratch();
  const open = (): Promise<OpenTabular> =>
    openTabular({ sealAgeMs: 3_600_000, sealRows: 10_000_000 }, { folder: folder.path });
  const figures: Figure[] = [];
  {
    await using store = await open();
    await fillFleet(store, readings);
    figures.push(...(await askPages(store, 'as they arrived', runs)));
  }
  figures.push(...(await askAfterStart(open, 'as they arrived')));
  {
    await using store = await open();
    await store.tabular.seal();
    figures.push(...(await askPages(store, 'sealed', runs)));
  }
  figures.push(...(await askAfterStart(open, 'sealed')));
  return figures;
}

export async function fillFleet(store: OpenTabular, readings: number): Promise<void> {
  const rounds = Math.ceil(readings / (seriesCount * uploadReadings));
  const startMs = Date.now() - rounds * uploadReadings * everyMs;
  for (let round = 0; round < rounds; round++)
    for (let machine = 0; machine < machines; machine++) {
      const partId = `part-${machine}`;
      for (let sensor = 0; sensor < sensors; sensor++) {
        const numbers = Array.from({ length: uploadReadings }, (_, at) => round * uploadReadings + at);
        store.append({
          place: {
            ...{ organizationId: wholeOrganization.organizationId, locationId: `location-${machine % locations}` },
            ...{ robotId: `robot-${machine}`, partId },
          },
          metadata: { partId, componentName: sensorName(sensor) },
          readings: numbers.map((n) => ({
            data: encodeStruct(documentAt(machine, sensor, n)),
            receivedMs: startMs + n * everyMs,
          })),
          syncedMs: Date.now(),
        });
      }
      if (machine % 10 === 0) await caughtUp(store, 2_000);
    }
  await caughtUp(store, 1);
}

type List = (conditions: object) => Promise<ListSeriesResponse>;

/** A new list in memory. */
function listOf(store: OpenTabular): List {
  return listWith(queriesOf(store));
}

function queriesOf(store: OpenTabular): Queries {
  return createQueries({
    ...{ tabular: store.tabular, db: store.db, clock: systemClock, log: silentLog },
    access: {
      scopeIn: () => wholeOrganization,
      allows: () => true,
      authorize: () => ({ organizationId: '', locationIds: [] }),
    },
    recheck: async ({ principal }) => principal,
    names: {
      machineName: (id) => id.replace('robot', 'press'),
      partName: (id) => id,
      machinesNamed: () => [],
      partsNamed: () => [],
    },
    fleetSizes: () => [{ organizationId: wholeOrganization.organizationId, machines }],
  });
}

function listWith({ seriesHandlers }: Queries): List {
  const call = { signal: new AbortController().signal, metadata: new Headers() } as unknown as CloudCall;
  return async (conditions) => {
    const { organizationId } = wholeOrganization;
    const request = create(ListSeriesRequestSchema, { organizationId, ...conditions });
    const answer = create(ListSeriesResponseSchema, await seriesHandlers.listSeries?.(request, call));
    toBinary(ListSeriesResponseSchema, answer);
    return answer;
  };
}

async function measure(
  name: string,
  list: List,
  conditions: object,
  { times = 1, expected = all }: { times?: number; expected?: number } = {},
): Promise<Figure> {
  const ms: number[] = [];
  let found: ListSeriesResponse | undefined;
  const usedBefore = usedSeconds();
  for (let run = 0; run < times; run++) {
    const started = performance.now();
    found = await list(conditions);
    ms.push(performance.now() - started);
  }
  if (found?.total !== expected) throw new Error(`${name}: expected ${expected} series, found ${found?.total}`);
  const usedMs = ((usedSeconds() - usedBefore) / times) * 1_000;
  const note = `${found.series.length} of ${found.total} series, longest ${Math.max(...ms).toFixed(0)} ms, ${usedMs.toFixed(0)} ms of processor time`;
  return { name, value: median(ms), unit: 'ms', most: mostMs, note };
}

async function askPages(store: OpenTabular, rows: string, runs: number): Promise<Figure[]> {
  const list = listOf(store);
  const one = { times: runs, expected: 1 };
  const location = { times: runs, expected: all / locations };
  return [
    await measure(`first page, no list yet, ${rows}`, list, {}),
    await measure(`first search, ${rows}`, list, { search: 'press-1234 sensor-7' }, { expected: 1 }),
    await measure(`first page, ${rows}`, list, {}, { times: runs }),
    await measure(`last page, ${rows}`, list, { offset: all - 50 }, { times: runs }),
    await measure(`search for one series, ${rows}`, list, { search: 'press-1234 sensor-7' }, one),
    await measure(`search by the name of a value, ${rows}`, list, { search: 'humidity' }, { times: runs }),
    await measure(`one location, ${rows}`, list, { locationId: 'location-3' }, location),
  ];
}

/** After two starts: first the list is made in the background; then nothing is, and the first calls come while the store starts. */
async function askAfterStart(open: () => Promise<OpenTabular>, rows: string): Promise<Figure[]> {
  const prepared = await askPrepared(open, rows);
  await using store = await open();
  const list = listOf(store);
  const first = await measure(`first page, asked while the store starts, ${rows}`, list, {});
  const search = await measure(`… then the first search, ${rows}`, list, { search: 'humidity' });
  const again = listOf(store);
  // Until its names would have been read without a search, the first list is in memory twice.
  await sleep(namesAfterMs + 500);
  const before = heapBytes();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await again({ search: 'humidity' });
  delay.disable();
  const bytes = heapBytes() - before;
  // Both lists are in memory until here.
  await Promise.all([list({}), again({})]);
  return [
    prepared,
    first,
    search,
    { name: `longest hold of other calls by the list, ${rows}`, value: delay.max / 1e6, unit: 'ms', most: mostHoldMs },
    { name: `memory of the list for each series, ${rows}`, value: bytes / all, unit: 'B' },
  ];
}

async function askPrepared(open: () => Promise<OpenTabular>, rows: string): Promise<Figure> {
  await using store = await open();
  await using queries = queriesOf(store);
  queries.start();
  await sleep(personMs);
  return await measure(`first page ${personMs / 1_000} s after a start, ${rows}`, listWith(queries), {});
}

/** Processor time of this process and of the store's, which tells the cost also on a busy computer. */
function usedSeconds(): number {
  return processTree(process.pid).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
