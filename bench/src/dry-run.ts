/**
 * Dry runs of triggers over stored readings of one part, in the real store, with the cloud's code; the store is filled once. Besides the
 * times, it measures the longest pause of the event loop while they run, and the memory that they add.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { BsonDocument } from '@platform/query';
import { encodeStruct } from '../../apps/cloud/src/tabular/testing/encode-struct.ts';
import { type OpenTabular, openTabular } from '../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { dryRun } from '../../apps/cloud/src/triggers/dry-run/dry-run.ts';
import { summarizer } from '../../apps/cloud/src/triggers/dry-run/summarize.ts';
import { parseTriggers } from '../../apps/cloud/src/triggers/parsing/parse-triggers.ts';
import { scratch } from './cloud/scratch.ts';
import { caughtUp } from './queries/fill.ts';
import { bsonOf } from './readings/bson-of.ts';

const uploadReadings = 250;
const uploadsAhead = 2_000;
const everyMs = 100;
const startMs = Date.UTC(2026, 0, 1);

const above = (limit: number) => ({ conditions: { evals: [{ operator: 'gt', value: { temperature: limit } }] } });
const conditional = (more: object) => ({
  type: 'conditional_data_ingested',
  conditional: { data_capture_method: 'sensor:bench:Readings', ...more },
});

/** `all`: the store cannot omit a reading. */
const events: Readonly<Record<string, object>> = {
  threshold: conditional(above(99.999)),
  all_for_secs: conditional({ ...above(50), for_secs: 5 }),
  all_text_for_secs: conditional({
    conditions: { evals: [{ operator: 'regex', value: { state: '^run' } }] },
    for_secs: 60,
  }),
  each_upload: { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } },
};

export async function measureDryRun(readings: number, runs: number): Promise<Readonly<Record<string, number>>[]> {
  using folder = scratch();
  await using store = await openTabular({}, { folder: folder.path });
  await fill(store, readings);
  const results: Record<string, number>[] = [];
  for (let run = 0; run < runs; run++) {
    const result: Record<string, number> = {};
    for (const [name, event] of Object.entries(events))
      Object.assign(result, await measureOne(store, name, event, readings));
    results.push(result);
  }
  return results;
}

async function measureOne(
  store: OpenTabular,
  name: string,
  event: object,
  readings: number,
): Promise<Record<string, number>> {
  const notifications = [{ type: 'webhook', value: 'https://example.com/hook', seconds_between_notifications: 600 }];
  const { triggers } = parseTriggers([{ name, event, notifications }], []);
  const [trigger] = triggers;
  if (trigger === undefined) throw new Error('expected a valid trigger');
  const summary = summarizer('part-1', trigger, 1_000);
  const place = {
    ...{ organizationId: 'org-1', organizationName: '', locationId: 'loc-1', locationName: '' },
    ...{ robotId: 'robot-1', robotName: '', partId: 'part-1', partName: '' },
  };
  const span = {
    place,
    fromMs: startMs,
    untilMs: startMs + readings * everyMs + 60_000,
    signal: new AbortController().signal,
  };
  const deps = {
    arrivals: store.tabular.arrivals,
    transitions: async () => [],
    logs: { lastBefore: async () => 0, after: async () => [] },
    monotonic: () => performance.now(),
  };
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let peakBytes = 0;
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }, 20);
  const beforeBytes = process.memoryUsage.rss();
  delay.enable();
  const began = performance.now();
  await dryRun(deps, span, trigger, summary);
  const seconds = (performance.now() - began) / 1_000;
  delay.disable();
  clearInterval(watch);
  const found = summary.summary();
  return {
    [`${name}_s`]: seconds,
    [`${name}_fired`]: found.fired,
    [`${name}_readings_looked_at`]: found.readings,
    [`${name}_longest_pause_ms`]: delay.max / 1e6,
    [`${name}_memory_mb`]: Math.max(0, peakBytes - beforeBytes) / 1e6,
  };
}

/** One sensor with ten readings a second, in uploads as machines send them. */
async function fill(store: OpenTabular, readings: number): Promise<void> {
  for (let first = 0; first < readings; first += uploadReadings) {
    const numbers = Array.from({ length: Math.min(uploadReadings, readings - first) }, (_, i) => first + i);
    const atMs = (n: number): number => startMs + n * everyMs;
    store.append({
      metadata: { componentName: 'bench' },
      readings: numbers.map((n) => ({ data: encodeStruct(reading(n)), receivedMs: atMs(n) })),
      syncedMs: atMs((numbers.at(-1) as number) + 1),
    });
    if (first % (100 * uploadReadings) === 0) await caughtUp(store, uploadsAhead);
  }
  await caughtUp(store, 1);
  await store.tabular.seal();
}

/** Like a machine's: a slow curve with noise, a state that seldom changes, and two more numbers. */
function reading(n: number): BsonDocument {
  const noise = Math.abs(Math.sin(n * 12.9898) * 43_758.5453) % 1;
  const temperature = 50 + 40 * Math.sin(n / 50_000) + 10 * noise;
  const state = n % 20_000 < 15_000 ? 'running' : 'idle';
  return bsonOf({ readings: { temperature, pressure: 1_000 + noise, n, state } }) as BsonDocument;
}
