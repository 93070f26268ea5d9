/** The list of what an organization has stored, as the Data page asks for it: pages, searches and choices over 20,000 series. */
import { create, toBinary } from '@bufbuild/protobuf';
import { silentLog, systemClock } from '@platform/base';
import {
  ListSeriesRequestSchema,
  type ListSeriesResponse,
  ListSeriesResponseSchema,
} from '@platform/proto/platform/series/v1/series';
import type { CloudCall } from '../../apps/cloud/src/access/principal.ts';
import { createQueries } from '../../apps/cloud/src/queries/feature.ts';
import { encodeStruct } from '../../apps/cloud/src/tabular/testing/encode-struct.ts';
import { type OpenTabular, openTabular, wholeOrganization } from '../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { scratch } from './cloud/scratch.ts';
import { median } from './figures/statistics.ts';
import { caughtUp } from './queries/fill.ts';
import { documentOf, readingAt } from './queries/readings.ts';
import type { Figure } from './store/figure.ts';

const machines = 2_000;
const sensors = 10;
const locations = 20;
const uploadReadings = 10;
const everyMs = 60_000;
/** The requirement for the first content of a page. */
const mostMs = 1_000;

/** Of hot rows, then of the same rows after they were sealed. */
export async function measureSeries({ readings, runs }: { readings: number; runs: number }): Promise<Figure[]> {
  using folder = scratch();
  await using store = await openTabular({ sealAgeMs: 3_600_000 }, { folder: folder.path });
  await fillFleet(store, readings);
  const figures = await ask(store, 'as they arrived', runs);
  await store.tabular.seal();
  return [...figures, ...(await ask(store, 'sealed', runs))];
}

export async function fillFleet(store: OpenTabular, readings: number): Promise<void> {
  const rounds = Math.ceil(readings / (machines * sensors * uploadReadings));
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
          metadata: { partId, componentName: `sensor-${sensor}` },
          readings: numbers.map((n) => ({
            data: encodeStruct(documentOf(readingAt(machine * sensors + sensor, n, everyMs))),
            receivedMs: startMs + n * everyMs,
          })),
          syncedMs: Date.now(),
        });
      }
      if (machine % 10 === 0) await caughtUp(store, 2_000);
    }
  await caughtUp(store, 1);
}

async function ask(store: OpenTabular, rows: string, runs: number): Promise<Figure[]> {
  const { seriesHandlers } = createQueries({
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
  });
  const call = { signal: new AbortController().signal, metadata: new Headers() } as unknown as CloudCall;
  const list = async (conditions: object): Promise<ListSeriesResponse> => {
    const request = create(ListSeriesRequestSchema, {
      organizationId: wholeOrganization.organizationId,
      ...conditions,
    });
    const answer = create(ListSeriesResponseSchema, await seriesHandlers.listSeries?.(request, call));
    toBinary(ListSeriesResponseSchema, answer);
    return answer;
  };
  const figures: Figure[] = [];
  const measure = async (name: string, times: number, conditions: object, expected: number): Promise<void> => {
    const ms: number[] = [];
    let found: ListSeriesResponse | undefined;
    for (let run = 0; run < times; run++) {
      const started = performance.now();
      found = await list(conditions);
      ms.push(performance.now() - started);
    }
    if (found?.total !== expected) throw new Error(`${name}: expected ${expected} series, found ${found?.total}`);
    const note = `${found.series.length} of ${found.total} series, longest ${Math.max(...ms).toFixed(0)} ms`;
    figures.push({ name: `${name}, ${rows}`, value: median(ms), unit: 'ms', most: mostMs, note });
  };
  const all = machines * sensors;
  await measure('first page, first time after a start', 1, {}, all);
  await measure('first page', runs, {}, all);
  await measure('last page', runs, { offset: all - 50 }, all);
  await measure('search for one series', runs, { search: 'press-1234 sensor-7' }, 1);
  await measure('search by the name of a value', runs, { search: 'humidity' }, all);
  await measure('one location', runs, { locationId: 'location-3' }, all / locations);
  return figures;
}
