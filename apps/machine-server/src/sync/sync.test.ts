import { mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createLog, PlatformError, systemClock } from '@platform/base';
import { CallCutOff } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { type FileReceiver, fakeLink } from '../testing/fake-link.ts';
import type { SyncSettings } from './rules/sync-settings.ts';
import { Sync } from './sync.ts';

/** Sends only on manual sync. */
const quietly: SyncSettings = {
  intervalMs: 3_600_000,
  disabled: true,
  threads: 1,
  tags: [],
  additionalPaths: [],
  unmodifiedMs: 0,
  after: { action: 'delete' },
  newestFirst: false,
  priorities: {},
  maxBytesPerSecond: 0,
};

interface Bench {
  readonly directory: string;
  readonly sync: Sync;
  readonly told: string[];
  readonly time: { ms: number };
}

/** A directory with plain files to sync, and a stopped clock. */
async function bench(names: readonly string[], receive: FileReceiver): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), 'sync-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const name of names) {
    await writeFile(join(directory, name), name);
    await utimes(join(directory, name), 1, 1);
  }
  const time = { ms: 0 };
  const clock: Clock = { ...systemClock, monotonic: () => time.ms };
  const told: string[] = [];
  const home = await mkdtemp(join(tmpdir(), 'sync-home-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const sync = new Sync({
    home,
    partId: 'part',
    link: fakeLink(receive),
    ledger: new SeqLedger(),
    captureDirectories: () => [],
    observe: undefined,
    seal: async () => {},
    clock,
    log: createLog((level, _logger, message) => {
      if (level !== 'debug' && !message.includes('links are not followed')) told.push(`${level} ${message}`);
    }),
  });
  onTestFinished(() => sync[Symbol.asyncDispose]());
  sync.configure({ ...quietly, additionalPaths: [directory] }, async () => undefined);
  return { directory, sync, told, time };
}

test('D15 a refused file that cannot be set aside has its own retry time, and is logged once a minute', async () => {
  let attempts = 0;
  const { directory, sync, told, time } = await bench(['a', 'b'], async () => {
    attempts++;
    throw new PlatformError('invalid_argument', 'not this one');
  });
  // A link to nowhere occupies the place of the folder.
  await symlink(join(directory, 'nowhere', 'failed'), join(directory, 'failed'));
  const line = 'error the cloud does not accept a file, and it could not be set aside; trying again';
  for (let pass = 0; pass < 5; pass++) await sync.flush();
  expect(attempts).toBe(2);
  expect(told).toEqual([line]);
  expect(sync.tally).toMatchObject({ setAsideFiles: 0, failedAttempts: 2 });
  time.ms = 50_000;
  await sync.flush();
  expect(attempts).toBe(4);
  expect(told).toEqual([line]);
  time.ms = 100_000;
  await sync.flush();
  expect(attempts).toBe(6);
  expect(told).toEqual([line, line]);
  await rm(join(directory, 'failed'));
  time.ms = 4_000_000;
  await sync.flush();
  expect(sync.tally.setAsideFiles).toBe(2);
  expect((await readdir(join(directory, 'failed'))).toSorted()).toEqual(['a', 'a.reason', 'b', 'b.reason']);
});

test('D15 while the cloud is unavailable, the log says so instead of reporting refused files', async () => {
  const { sync, told } = await bench(['a'], async () => {
    throw new PlatformError('unavailable', 'no answer');
  });
  await sync.flush();
  expect(told).toEqual(['warn sync: the cloud is unavailable; files stay on the disk and are sent later']);
});

test('D15 an upload whose connection is cut waits alone: the others are sent', async () => {
  const sent: string[] = [];
  const { sync, told } = await bench(['a', 'b', 'c'], async (chunks) => {
    for await (const chunk of chunks) sent.push(Buffer.from(chunk).toString());
    if (sent.length === 1)
      throw new PlatformError('unavailable', 'the connection broke', new CallCutOff('it was closed'));
  });
  await sync.flush();
  expect(sent.toSorted()).toEqual(['a', 'b', 'c']);
  expect(sync.pausedUntil).toBeUndefined();
  expect(told).toEqual(['warn sync: the connection ended while a file was sent; trying again']);
});

test('D15 an exception while a file is sent is a failure of that file only: the others are sent, and later passes run', async () => {
  const sent: string[] = [];
  const { directory, sync, told, time } = await bench(['a', 'b', 'c'], async (chunks) => {
    for await (const chunk of chunks) sent.push(Buffer.from(chunk).toString());
  });
  // The counter of uploads throws once.
  let broken = true;
  Object.defineProperty(sync.tally, 'uploadedFiles', {
    get: () => sent.length,
    set: () => {
      if (!broken) return;
      broken = false;
      throw new Error('out of order');
    },
  });
  await sync.flush();
  expect(sent.toSorted()).toEqual(['a', 'b', 'c']);
  expect(told).toEqual(['error sync: sending a file failed on this side; trying again']);
  expect(await readdir(directory)).toHaveLength(1);
  time.ms = 4_000_000;
  await sync.flush();
  expect(await readdir(directory)).toEqual([]);
  expect(told).toHaveLength(1);
});

test('D15 a cloud that can be reached again gets the files that waited for it at once, but not while it asked to wait', async () => {
  let error: PlatformError | undefined = new PlatformError('unavailable', 'away');
  let attempts = 0;
  const { sync, time } = await bench(['a', 'b', 'c'], async () => {
    attempts++;
    if (error !== undefined) throw error;
  });
  for (let pass = 0; pass < 12; pass++) {
    time.ms += 60_000;
    await sync.flush();
  }
  const [tries, untilMs] = [attempts, sync.attempts.earliest() ?? 0];
  expect(untilMs).toBeGreaterThan(time.ms + 5_000);
  sync.retry();
  error = undefined;
  await sync.flush();
  expect(attempts).toBe(tries + 3);
});
