/** Power cuts at any instant of a recorded run: every produced reading is stored once, or reported as a gap. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  accountFor,
  type CutImage,
  cutImages,
  faultProgress,
  measureLag,
  memoryDirectory,
  type Produced,
  recordSyscalls,
  reportFault,
  restoreImage,
  rollingSeed,
  type Syscall,
  seededRandom,
  temporaryDirectory,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { MemoryCloud, type MemoryGap, type MemoryUpload } from './memory-cloud.ts';
import { syncAll } from './sync-all.ts';

const cuts = Number(process.env['FAULT_CUTS'] ?? 100);
const seed = rollingSeed();
const childFile = fileURLToPath(new URL('./child.ts', import.meta.url));
/** A longer recording has more instants. */
const seconds = String(6 + Math.floor(cuts / 200));
/** Under strace, everything is slow. */
const slackMs = 100;

test(`C4 C6 C8 C9 I5 I6 after each of ${cuts} power cuts, what was produced is stored once or reported as a gap`, async () => {
  await using trace = await temporaryDirectory();
  await using recorded = await temporaryDirectory();
  const lag = await measureLag();
  const calls = await recordSyscalls({
    command: process.execPath,
    args: ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning', childFile, recorded.path, seconds],
    directory: recorded.path,
    traceFile: trace.file('trace'),
  });
  await lag[Symbol.asyncDispose]();
  const slack = slackMs + lag.longestMs;
  const random = seededRandom(seed);
  const sum = { cuts: 0, produced: 0, stored: 0, missing: 0, longestMs: 0 };
  const faults: object[] = [];
  for (const image of cutImages(calls, { random, randomInstants: cuts, everyBoundary: 0 })) {
    const { at } = image;
    const { cloud, produced } = said(calls.slice(0, at));
    await startAgain(image, recorded.path, cloud);
    const { unexplained, longestMs } = accountFor({
      ...{ produced, stored: cloud.readings(), slackMs: slack },
      gaps: [...cloud.gaps.values()].map((gap) => ({
        ...{ component: gap.componentName, reason: String(gap.reason), isBound: true },
        ...{ startMs: gap.startUs / 1_000, endMs: gap.endUs / 1_000, readings: gap.readings },
      })),
    });
    const { breaches } = cloud;
    const { invented, doubled } = strangers(cloud, produced);
    if (unexplained.length + breaches.length + invented.length + doubled.length > 0)
      faults.push({ at, unexplained: unexplained.slice(0, 20), breaches, invented, doubled });
    sum.cuts++;
    faultProgress('power cuts', sum.cuts, cuts);
    sum.produced += produced.length;
    sum.stored += cloud.readings().length;
    sum.missing += produced.length - cloud.readings().length;
    sum.longestMs = Math.max(sum.longestMs, longestMs);
  }
  reportFault('power_cuts', { seed, lagMs: Math.round(lag.longestMs), ...sum, faults: faults.length });
  expect(sum.cuts).toBe(cuts);
  expect(faults.slice(0, 5), `FAULT_SEED=${seed}`).toEqual([]);
  // A flush on a busy disk waits three times: for the captured data, for the note that it is late, and for its own note.
  expect(sum.longestMs).toBeLessThanOrEqual(1_000 + 3 * slack);
  expect(sum.missing).toBeGreaterThan(0);
}, 1_800_000);

/** The output of the recorded run before the cut. */
function said(calls: readonly Syscall[]): { cloud: MemoryCloud; produced: Produced[] } {
  const cloud = new MemoryCloud();
  const produced: Produced[] = [];
  for (const call of calls) {
    if (call.kind !== 'write' || call.path !== 'stdout') continue;
    const line: { made?: Produced; accepted?: MemoryUpload; told?: MemoryGap } = JSON.parse(
      Buffer.from(call.bytes).toString(),
    );
    if (line.made !== undefined) produced.push(line.made);
    if (line.accepted !== undefined) cloud.accept(line.accepted);
    if (line.told !== undefined) cloud.tell(line.told);
  }
  return { cloud, produced };
}

/** Starts with the files that the cut left, and sends everything. */
async function startAgain(image: CutImage, recordedPath: string, cloud: MemoryCloud): Promise<void> {
  await using home = await memoryDirectory();
  await restoreImage(image, recordedPath, home.path);
  const list = join(home.path, 'capture_directories.json');
  const directories = await readFile(list, 'utf8').catch(() => undefined);
  if (directories !== undefined) await writeFile(list, directories.replaceAll(recordedPath, home.path));
  await syncAll(home.path, cloud);
}

function strangers(cloud: MemoryCloud, produced: readonly Produced[]) {
  const hashes = new Set(produced.map(({ hash }) => hash));
  const stored = cloud.readings().map(({ hash }) => hash);
  const seen = new Set<string>();
  const doubled = stored.filter((hash) => seen.has(hash) || !seen.add(hash));
  return { invented: stored.filter((hash) => !hashes.has(hash)), doubled };
}
