import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLog, systemClock } from '@platform/base';
import {
  cutImages,
  memoryDirectory,
  recordSyscalls,
  restoreImage,
  rollingSeed,
  type Syscall,
  temporaryDirectory,
} from '@platform/testkit';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { type AppendPlan, plannedEntry } from '../testing/append-child.ts';
import type { LogEntry, LogRow } from './log.ts';
import { LogReader } from './log-reader.ts';
import { openIngestLog } from './open-ingest-log.ts';
import { openLogFile } from './open-log-file.ts';

const childFile = fileURLToPath(new URL('../testing/append-child.ts', import.meta.url));
const plan: AppendPlan = {
  stream: '00112233445566778899aabbccddeeff',
  appends: 90,
  parallel: 3,
  batchBytes: 6_000,
  truncateEvery: 40,
  firstSeq: 1,
};

interface Recording {
  readonly directory: string;
  readonly calls: readonly Syscall[];
}

const unwind = new AsyncDisposableStack();
afterAll(() => unwind.disposeAsync());

async function record(): Promise<Recording> {
  const { path: directory } = unwind.use(await temporaryDirectory());
  const traceFile = unwind.use(await temporaryDirectory()).file('trace');
  const args = ['--conditions=@platform/source', childFile, join(directory, 'ingest.sqlite'), JSON.stringify(plan)];
  return { directory, calls: await recordSyscalls({ command: process.execPath, args, directory, traceFile }) };
}

let recording: Promise<Recording> | undefined;
/** One for all tests. */
const recorded = (): Promise<Recording> => {
  recording ??= record();
  return recording;
};

interface Reopened extends AsyncDisposable {
  read(after: number, limit: { rows: number; bytes: number }): Promise<readonly LogRow[]>;
  lastPosition(): number;
  append(entry: LogEntry): Promise<{ outcome: string; position: number | null }>;
}

/** Opens the log with its thread, as the cloud does, or without it, to try more cuts in the same time. */
async function reopen(file: string, withThread: boolean): Promise<Reopened> {
  if (withThread) return openIngestLog({ onFatal: throwUncaught, file, log: silentLog, clock: systemClock });
  const { db, appender, state } = openLogFile(file);
  const reader = new LogReader(file);
  return {
    read: async (after, limit) => reader.read(after, limit),
    lastPosition: () => state.lastPosition,
    async append(entry) {
      appender.begin();
      const result = appender.append(entry);
      appender.commit();
      return result;
    },
    async [Symbol.asyncDispose]() {
      reader[Symbol.dispose]();
      db.close();
    },
  };
}

/** What the child had written to stdout before the call at index `before`. */
function said(calls: readonly Syscall[], before: number): { acks: Map<number, number>; truncated: number } {
  const acks = new Map<number, number>();
  let truncated = 0;
  for (const call of calls.slice(0, before)) {
    if (call.kind !== 'write' || call.path !== 'stdout') continue;
    const line = JSON.parse(Buffer.from(call.bytes).toString('utf8'));
    if (line.ack !== undefined) acks.set(line.ack, line.position);
    if (line.truncated !== undefined) truncated = Math.max(truncated, line.truncated);
  }
  return { acks, truncated };
}

test('I2 strace shows that each acknowledgement follows the sync that covers it', async () => {
  const { calls } = await recorded();

  let checked = 0;
  calls.forEach((call, said) => {
    if (call.kind !== 'write' || call.path !== 'stdout') return;
    const { ack } = JSON.parse(Buffer.from(call.bytes).toString('utf8'));
    if (ack === undefined) return;
    const marker = Buffer.from(plannedEntry(plan, ack, 0).batch.subarray(0, 32));
    const written = calls.findIndex(
      (other) => other.kind === 'write' && other.path.endsWith('-wal') && Buffer.from(other.bytes).includes(marker),
    );
    expect(written, `the upload ${ack} was written to the log`).toBeGreaterThanOrEqual(0);
    const covered = calls.findIndex(
      (other) => other.kind === 'sync' && other.path.endsWith('-wal') && other.startedAt > written,
    );
    expect(covered, `a sync after the write of upload ${ack}`).toBeGreaterThan(written);
    expect(covered, `acknowledgement ${ack} after its sync`).toBeLessThan(said);
    checked++;
  });
  expect(checked).toBe(plan.appends);
});

test('I2 I3 I5 I12 a power cut at any sync boundary or instant loses no acknowledged upload and duplicates none', {
  timeout: 600_000,
}, async () => {
  const { calls, directory } = await recorded();
  // `npm run fault -- power-cut` sets the seed and the number of instants.
  const { FAULT_KILLS = '60' } = process.env;
  const seed = rollingSeed();
  const random = randomFrom(seed);
  const images = cutImages(calls, {
    random,
    randomInstants: Number(FAULT_KILLS),
    ignore: (path) => path.endsWith('-shm'),
  });

  let checked = 0;
  for (const image of images) {
    const where = `FAULT_SEED=${seed}, cut before call ${image.at} of ${calls.length}`;
    const { acks, truncated } = said(calls, image.at);
    await using disk = await memoryDirectory();
    await restoreImage(image, directory, disk.path);
    await using log = await reopen(disk.file('ingest.sqlite'), checked % 20 === 0);

    const rows = await log.read(0, { rows: 1_000, bytes: 2 ** 30 });
    const seqAt = new Map(rows.map(({ position, batch }) => [position, seqOf(batch)]));
    expect(new Set(seqAt.values()).size, `${where}: no upload twice`).toBe(rows.length);
    const positions = rows.map(({ position }) => position);
    const first = positions[0] ?? log.lastPosition() + 1;
    expect(first, `${where}: only truncated rows are missing`).toBeLessThanOrEqual(truncated + 1);
    expect(positions, `${where}: the rows are a gapless run`).toEqual(positions.map((_, index) => first + index));
    expect(log.lastPosition(), where).toBe(first + rows.length - 1);

    let lastAcknowledged = 0;
    for (const [seq, position] of acks) {
      lastAcknowledged = Math.max(lastAcknowledged, position);
      if (position >= first) expect(seqAt.get(position), `${where}: upload ${seq} at its position`).toBe(seq);
    }
    expect(log.lastPosition(), `${where}: every acknowledged position`).toBeGreaterThanOrEqual(lastAcknowledged);

    const retried = [...acks.keys()].at(-1);
    if (retried !== undefined) {
      const again = await log.append(plannedEntry(plan, retried, 0));
      expect(['repeated', 'settled'], `${where}: the retry of ${retried}`).toContain(again.outcome);
      if (again.outcome === 'repeated') expect(again.position, where).toBe(acks.get(retried));
    }
    const fresh = await log.append(plannedEntry(plan, 1_000, 0));
    expect(fresh.position, `${where}: a new position`).toBeGreaterThan(lastAcknowledged);
    checked++;
  }
  expect(checked).toBeGreaterThan(100);
});

const hexOfMarker = (batch: Uint8Array): string => Buffer.from(batch.subarray(0, 32)).toString('hex');

const plannedByMarker = new Map<string, { readonly seq: number; readonly batch: Uint8Array }>();
for (const seq of [...Array.from({ length: plan.appends }, (_, index) => index + 1), 1_000]) {
  const { batch } = plannedEntry(plan, seq, 0);
  plannedByMarker.set(hexOfMarker(batch), { seq, batch });
}

function seqOf(batch: Uint8Array): number {
  const planned = plannedByMarker.get(hexOfMarker(batch));
  if (planned === undefined || Buffer.compare(planned.batch, batch) !== 0)
    throw new Error('a row holds bytes that were never appended');
  return planned.seq;
}

function randomFrom(seed: number): () => number {
  const values = fc.sample(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { seed, numRuns: 4_096 });
  let at = 0;
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return ((values[at++ % values.length] as number) + state / 2 ** 32) % 1;
  };
}
