/**
 * Two organizations with the same names, filled with random data over several days: sealed into several files, partly merged, partly hot,
 * partly deleted. Each machine's rows contain a unique text, which identifies them where they must not appear.
 */
import { createCatalog } from '../../catalog/catalog.ts';
import { encodeStruct } from '../encode-struct.ts';
import type { OpenTabular } from '../open-tabular.ts';
import type { Random } from './random.ts';
import { type Habits, randomHabits, randomReadings } from './random-document.ts';

export interface Machine {
  readonly organizationId: string;
  readonly locationId: string;
  readonly robotId: string;
  readonly partId: string;
  readonly canary: string;
}

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;
/** Times for comparisons, chosen from those that rows have. */
export const timesMs: readonly number[] = [0, 1, 1.5, 2, 60_000, 3_600_000, -1].flatMap((ms) =>
  [-1, 0, 1].map((days) => noonMs + days * dayMs + ms),
);
export const components = ['cpu', 'cpu2', 'é', 'zz'] as const;

export const machines: readonly Machine[] = [
  ['org-1', 'loc-1', 'robot-1'],
  ['org-1', 'loc-1', 'robot-2'],
  ['org-1', 'loc-2', 'robot-3'],
  ['org-2', 'loc-1', 'robot-1'],
].map(([organizationId = '', locationId = '', robotId = '']) => {
  const name = `${organizationId}/${robotId}`;
  return { organizationId, locationId, robotId, partId: `part of ${robotId}`, canary: `canary of ${name}` };
});

export interface WorldSize {
  /** Uploads per time range; all ranges but the last are sealed together. */
  readonly uploads: number;
  /** Maximum readings per upload. */
  readonly readings: number;
}

/** Few rows, because there are many queries. */
export const smallWorld: WorldSize = { uploads: 24, readings: 8 };
/** Files of several row groups, which DuckDB reads with several threads. */
export const largeWorld: WorldSize = { uploads: 48, readings: 4_000 };

export async function fillWorld(random: Random, store: OpenTabular, size: WorldSize): Promise<void> {
  const disorder = random.pick([0, 0, 0.1, 0.5]);
  const usual = randomHabits(random, disorder);
  // Mostly few files, because each slows down every query.
  const days = size === largeWorld ? [0] : random.pick([[0], [0], [0], [-1, 0], [-1, 0, 1]]);
  const stretches = size === largeWorld ? 2 : random.pick([2, 2, 2, 3]);
  for (let stretch = 0; stretch < stretches; stretch++) {
    const habits = random.chance(disorder) ? randomHabits(random, 1) : usual;
    const isLast = stretch === stretches - 1;
    // Many rows should be in files, because the executor reads all hot ones.
    const uploads = isLast && size === largeWorld ? 4 : size.uploads;
    for (let upload = 0; upload < uploads; upload++) append(random, store, { habits, days, readings: size.readings });
    if (random.chance(0.3)) await deleteSome(random, store);
    // Rows after the last seal stay hot.
    if (!isLast) await store.tabular.seal();
  }
  // Rows being written to columns have a different order until they are written.
  await store.count();
}

interface Stretch {
  readonly habits: Habits;
  readonly days: readonly number[];
  readonly readings: number;
}

function append(random: Random, store: OpenTabular, { habits, days, readings }: Stretch): void {
  const machine = random.pick(machines);
  const { canary, ...place } = machine;
  const times = timesMs.filter((ms) => days.includes(Math.floor((ms - noonMs) / dayMs + 0.5)));
  store.append({
    place,
    metadata: {
      partId: machine.partId,
      componentName: random.pick(components),
      componentType: random.pick(['core:component:sensor', 'core:component:arm']),
      methodName: random.pick(['Readings', 'Readings', 'Position']),
      tags: random.chance(0.2) ? [canary] : [],
    },
    readings: random.list(1 + (readings >> 4), readings, () => ({
      data: encodeStruct(randomReadings(random, habits, canary)),
      receivedMs: random.chance(0.03)
        ? null
        : random.chance(0.5)
          ? random.pick(times)
          : random.pick(times) + random.int(9),
      requestedMs: random.chance(0.1) ? null : noonMs + random.int(9),
    })),
    syncedMs: noonMs + 2 * dayMs,
  });
}

async function deleteSome(random: Random, store: OpenTabular): Promise<void> {
  const { robotId, organizationId } = random.pick(machines);
  const paths = { robot_id: [robotId], component_name: [random.pick(components)] };
  const predicate = random.pick([{ paths }, { paths, beforeDay: '2026-05-17' }, { beforeDay: '2026-05-17' }]);
  const upTo = store.tabular.lag().committedPosition;
  await createCatalog(store.db).addDelete(organizationId, { predicate, upTo }, 0);
}
