/** The speed of this computer with a backlog: read small files, send each over HTTP/2 to a server that discards it, delete it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { scratch } from '../src/cloud/scratch.ts';
import { openUploader } from '../src/cloud/upload-frames.ts';
import { mapConcurrently } from '../src/figures/map-concurrently.ts';

const fileBytes = 1_200;
const lanes = 16;

/** @returns files a second */
export async function measureBacklogLimit(files: number): Promise<number> {
  using folder = scratch();
  const paths = Array.from({ length: files }, (_, index) => join(folder.path, String(index % 10), `${index}`));
  for (let index = 0; index < 10; index++) mkdirSync(join(folder.path, String(index)));
  for (const path of paths) writeFileSync(path, randomBytes(fileBytes));
  const server = new Worker(fileURLToPath(new URL('./discarding-server.ts', import.meta.url)));
  const port = await new Promise<number>((resolve) => server.once('message', resolve));
  try {
    using uploader = await openUploader(`http://127.0.0.1:${port}`, 'none');
    const startedMs = performance.now();
    await mapConcurrently(lanes, files, async (index) => {
      const path = paths[index] as string;
      await uploader.upload(await readFile(path));
      await rm(path);
    });
    return files / ((performance.now() - startedMs) / 1_000);
  } finally {
    await server.terminate();
  }
}
