/** D34: readings of maximum size, and of any size, on a machine of 2 GB: queries continue, memory is bounded, the log is truncated. */
import { expect, test } from 'vitest';
import { seededRandom } from '../crash/cloud-under-load.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { type Asked, type Asker, askEachSecond, totalsOf } from './ask-each-second.ts';
import { largestBytes } from './generated-readings.ts';
import { type LimitedCloud, startLimited } from './start-limited.ts';
import { startUploading, type UploadPlan } from './start-uploading.ts';

const { seed, seconds, large } = readFaultSettings();
const machineBytes = 2 * 2 ** 30;
const mostBytes = 1.6e9;
const mostMs = 5_000;
const bytesPerSecond = 10_000_000;
/** A short run shares its computer with other tests, so answer times mean nothing. */
const isLong = seconds >= 60;
const sealAge = isLong ? '60s' : '5s';
/** Sealing may take long; this only detects that it never ends. */
const truncatedWithinMs = 300_000;

async function underLoad(loadsOf: (cloud: LimitedCloud) => Promise<readonly Loaded[]>): Promise<void> {
  await using cloud = await startLimited({ bytes: machineBytes, sealAge });
  const loads = await loadsOf(cloud);
  const uploads = loads.map(({ tenant, plan }) => ({ tenant, uploaded: startUploading(cloud.url, tenant, plan) }));
  const asking = askEachSecond(cloud.client, uploads satisfies readonly Asker[], isLong);
  try {
    await Promise.all(uploads.map(({ uploaded }) => uploaded.finished));
    // Sealing the last uploads is part of the load.
    await cloud.truncated(truncatedWithinMs);
  } finally {
    await asking.stop();
    console.log(JSON.stringify({ seed, ...reportOf(cloud, uploads, asking) }));
  }
  expect(Object.fromEntries(asking.failures)).toEqual({});
  expect(cloud.kills()).toBe(0);
  for (const { tenant, uploaded } of uploads) expect(await totalsOf(cloud.client, tenant)).toEqual(uploaded.totals);
  if (isLong) expect(p99Of(asking)).toBeLessThanOrEqual(mostMs);
  expect(cloud.memory.peakBytes).toBeLessThanOrEqual(mostBytes);
}

function reportOf({ isEnforced, memory }: LimitedCloud, uploads: readonly Asker[], asking: Asked): object {
  const rounded = ([name, bytes]: [string, number]): [string, number] => [name, Math.round(bytes / 1e6)];
  return {
    limit: isEnforced ? 'enforced' : 'watched only',
    readings: uploads.map(({ uploaded }) => uploaded.totals.readings),
    megabytes: uploads.map(({ uploaded }) => Math.round(uploaded.totals.textBytes / 1e6)),
    retries: uploads.map(({ uploaded }) => Object.fromEntries(uploaded.retries)),
    questions: asking.latenciesMs.length,
    failures: Object.fromEntries(asking.failures),
    p99Ms: Math.round(p99Of(asking)),
    peakMB: Math.round(memory.peakBytes / 1e6),
    peakOf: Object.fromEntries(Object.entries(memory.peakByCommand).map(rounded)),
  };
}

/** Nearest rank. */
function p99Of({ latenciesMs }: Asked): number {
  const slowest = latenciesMs.toSorted((a, b) => a - b);
  return slowest[Math.max(0, Math.ceil(slowest.length * 0.99) - 1)] ?? 0;
}

interface Loaded {
  readonly tenant: Awaited<ReturnType<LimitedCloud['makeTenant']>>;
  readonly plan: UploadPlan;
}

/** This many readings of one size, then no more. */
const times = (count: number, bytes: number) => (n: number) => (n <= count ? bytes : undefined);

const timeoutMs = 600_000 + seconds * 1_000;

for (const count of large) {
  test(
    `D34 I12 ${count} readings of almost 4 MB: another organization’s queries are answered, and the log is truncated`,
    () =>
      underLoad(async (cloud) => [
        { tenant: await cloud.makeTenant('large'), plan: { nextBytes: times(count, largestBytes - 4) } },
        { tenant: await cloud.makeTenant('small'), plan: { nextBytes: times(1_000, 300) } },
      ]),
    timeoutMs + count * 1_000,
  );
}

test(
  `D34 I12 ${seconds} s of readings from 100 B to 4 MB from three organizations: queries are answered, and the log is truncated`,
  () =>
    underLoad(async (cloud) => {
      const until = performance.now() + seconds * 1_000;
      const random = seededRandom(seed);
      // Equally many of each order of magnitude.
      const nextBytes = (): number | undefined =>
        performance.now() > until ? undefined : Math.round(100 * (largestBytes / 100) ** random(0, 1));
      const loads: Loaded[] = [];
      for (const name of ['a', 'b', 'c'])
        loads.push({ tenant: await cloud.makeTenant(name), plan: { nextBytes, bytesPerSecond } });
      return loads;
    }),
  timeoutMs,
);
