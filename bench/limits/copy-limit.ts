/** The speed of this computer with a large file: read it, send it over loopback TCP to another thread that writes and syncs it. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { scratch } from '../src/cloud/scratch.ts';

const chunkBytes = 256 * 1024;

/** @returns bytes a second */
export async function measureCopyLimit(path: string, bytes: number): Promise<number> {
  using folder = scratch();
  const workerData = { path: join(folder.path, 'copy') };
  const server = new Worker(fileURLToPath(new URL('./copying-server.ts', import.meta.url)), { workerData });
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
