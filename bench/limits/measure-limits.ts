/** The raw limits of this computer, with which benchmark results are compared. */
import { randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scratch } from '../src/cloud/scratch.ts';
import { openUploader } from '../src/cloud/unary-session.ts';
import { percentile } from '../src/figures/statistics.ts';
import { encodeBatches } from '../src/readings/encode-batches.ts';

const readingsEach = 1_000;
const batches = 300;
const inFlight = 16;

export async function measureLimits(): Promise<Readonly<Record<string, number>>> {
  using folder = scratch();
  const encoded = encodeBatches({ partId: 'limit', stream: randomBytes(16), batches, readingsEach, inFlight });
  return {
    ...appendToSqlite(join(folder.path, 'limit.sqlite'), encoded),
    ...syncFile(join(folder.path, 'limit.bin'), encoded),
    ...(await uploadToNothing(encoded)),
  };
}

/** Appends the same batches, one fully synced transaction each, on the calling thread. */
function appendToSqlite(file: string, encoded: readonly Uint8Array[]): Record<string, number> {
  const database = new DatabaseSync(file);
  database.exec(
    'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE log (position INTEGER PRIMARY KEY, batch BLOB)',
  );
  const insert = database.prepare('INSERT INTO log (batch) VALUES (?)');
  const started = performance.now();
  const commitsMs = encoded.map((batch) => {
    const before = performance.now();
    insert.run(batch);
    return performance.now() - before;
  });
  const seconds = (performance.now() - started) / 1_000;
  database.close();
  return {
    sqlite_append_readings_per_s: (encoded.length * readingsEach) / seconds,
    sqlite_commit_p50_ms: percentile(commitsMs, 0.5),
    sqlite_commit_p99_ms: percentile(commitsMs, 0.99),
  };
}

/** Appends the same batches, with an fdatasync for each. */
function syncFile(file: string, encoded: readonly Uint8Array[]): Record<string, number> {
  const handle = openSync(file, 'w');
  const syncsMs = encoded.map((batch) => {
    const before = performance.now();
    writeSync(handle, batch);
    fdatasyncSync(handle);
    return performance.now() - before;
  });
  closeSync(handle);
  return { file_sync_p50_ms: percentile(syncsMs, 0.5), file_sync_p99_ms: percentile(syncsMs, 0.99) };
}

/** Sends the same uploads over HTTP/2 to a server that reads and discards them; client and server share this process. */
async function uploadToNothing(encoded: readonly Uint8Array[]): Promise<Record<string, number>> {
  const server = createServer({ settings: { initialWindowSize: 4 * 1024 * 1024 } });
  // HTTP/2's default window for a whole connection is 64 KiB, less than one batch.
  server.on('session', (session) => session.setLocalWindowSize(16 * 1024 * 1024));
  server.on('stream', (stream) => {
    stream.resume();
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' }, { endStream: true });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    using uploader = await openUploader(`http://127.0.0.1:${port}`, 'none');
    const started = performance.now();
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < encoded.length) await uploader.upload(encoded[next++] as Uint8Array);
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    const seconds = (performance.now() - started) / 1_000;
    return { http2_upload_readings_per_s: (encoded.length * readingsEach) / seconds };
  } finally {
    server.close();
  }
}
