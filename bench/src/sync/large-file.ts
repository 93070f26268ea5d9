import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { residentBytes } from '@platform/testkit';
import { scratch } from '../cloud/scratch.ts';
import { dataManager } from '../readings/part-configuration.ts';
import type { Figure } from '../store/figure.ts';
import { startSyncMachine } from './sync-machine.ts';

const settleMs = 8_000;
const sampleMs = 100;
const blockBytes = 4 * 1024 * 1024;

/** One large file of an additional path: its rate compared with a bare copy over loopback, and the memory that both sides need. */
export async function measureLargeFile({ megabytes }: { readonly megabytes: number }): Promise<Figure[]> {
  const bytes = megabytes * 1_000_000;
  using aside = scratch();
  const source = join(aside.path, 'large.bin');
  writeLarge(source, bytes);
  const limit = await measureCopyLimit(source, bytes);
  const folderOf = (folder: string): string => join(folder, 'to-sync');
  await using machine = await startSyncMachine((folder) => {
    mkdirSync(folderOf(folder));
    return {
      services: [dataManager(0.01, { additional_sync_paths: [folderOf(folder)], file_last_modified_millis: 0 })],
    };
  });
  await sleep(settleMs);
  const pids = [machine.pid, machine.cloud.process.pid];
  const before = pids.map(residentBytes);
  const most = [...before];
  const target = join(folderOf(machine.cloud.folder), 'large.bin');
  utimesSync(source, 1, 1);
  renameSync(source, target);
  const startedMs = performance.now();
  while (existsSync(target)) {
    await sleep(sampleMs);
    for (const [index, pid] of pids.entries()) most[index] = Math.max(most[index] ?? 0, residentBytes(pid));
  }
  const rate = bytes / ((performance.now() - startedMs) / 1_000);
  rmSync(target, { force: true });
  const growth = most.map((value, index) => (value - (before[index] ?? 0)) / 1e6);
  return [
    {
      ...{ name: `a file of ${megabytes} MB`, value: rate / 1e6, unit: 'MB/s', beside: limit / 1e6, leastRatio: 0.7 },
      note: 'beside: read, sent over loopback, written and synced',
    },
    { name: 'large file: growth of the machine-server', value: growth[0] ?? Number.NaN, unit: 'MB', most: 100 },
    { name: 'large file: growth of the cloud', value: growth[1] ?? Number.NaN, unit: 'MB', most: 100 },
  ];
}

function writeLarge(path: string, bytes: number): void {
  const block = randomBytes(blockBytes);
  const file = openSync(path, 'w');
  for (let written = 0; written < bytes; written += blockBytes) {
    // Blocks differ, so that nothing can deduplicate them.
    block.writeUInt32LE(written / blockBytes);
    writeSync(file, block, 0, Math.min(blockBytes, bytes - written));
  }
  closeSync(file);
}

const chunkBytes = 256 * 1024;

/**
 * The speed of this computer with a large file: read it, send it over loopback TCP to another thread that writes and syncs it. @returns
 * bytes a second
 */
async function measureCopyLimit(path: string, bytes: number): Promise<number> {
  using folder = scratch();
  const workerData = { path: join(folder.path, 'copy') };
  const server = new Worker(fileURLToPath(new URL('../../limits/copying-server.ts', import.meta.url)), { workerData });
  const [port] = await once(server, 'message');
  const copied = once(server, 'message');
  const startedMs = performance.now();
  const socket = connect(Number(port), '127.0.0.1');
  await pipeline(createReadStream(path, { highWaterMark: chunkBytes }), socket);
  await copied;
  const seconds = (performance.now() - startedMs) / 1_000;
  await server.terminate();
  return bytes / seconds;
}
