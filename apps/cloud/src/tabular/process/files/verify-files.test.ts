import { randomBytes } from 'node:crypto';
import { open, utimes, writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { FileRef, FoundFile } from '../messages.ts';
import { blockBytes, checksumFile } from './checksum-file.ts';
import { createFileVerifier, type FileVerifier } from './verify-files.ts';

interface Room extends AsyncDisposable {
  readonly verifier: FileVerifier;
  readonly ref: FileRef;
  readonly path: string;
  readonly told: FoundFile[];
  flip(at: number): Promise<void>;
}

/** A file of five blocks, written a minute ago; its footer takes the last two. */
async function room(): Promise<Room> {
  const directory = await temporaryDirectory();
  const path = directory.file('2026-05-17-a.parquet');
  const bytes = randomBytes(4 * blockBytes + 1_000);
  bytes.writeUInt32LE(2_000, bytes.length - 8);
  await writeFile(path, bytes);
  const told: FoundFile[] = [];
  const ref = { file: '2026-05-17-a.parquet', format: 2, captureDay: '2026-05-17', expected: await checksumFile(path) };
  const verifier = createFileVerifier({
    parquetDir: directory.path,
    now: () => Date.now() + 60_000,
    sleep: async () => {},
    report: (_, found) => void told.push(found),
  });
  verifier.expect([ref]);
  return {
    ...{ verifier, ref, path, told },
    async flip(at) {
      await using file = await open(path, 'r+');
      const byte = Buffer.alloc(1);
      await file.read(byte, 0, 1, at);
      await file.write(Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, at);
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

test('D33 opening a file verifies its footer, and reading rows verifies all of it', async () => {
  await using one = await room();
  await one.flip(10);
  const reader = one.verifier.reader();
  await reader.footers([one.ref]);
  await expect(reader.rows([one.path])).rejects.toMatchObject({
    code: 'data_loss',
    message: expect.stringContaining(`bytes 0 to ${blockBytes - 1} differ from those that were written`),
  });
  await one.flip(4 * blockBytes - 500);
  await expect(one.verifier.reader().footers([one.ref])).rejects.toMatchObject({
    message: expect.stringContaining(
      `2 of its blocks differ from those that were written, the first at bytes 0 to ${blockBytes - 1}`,
    ),
  });
});

test('D33 a damaged file is considered right only when all of it is, and is reported once', async () => {
  await using one = await room();
  await one.flip(10);
  for (let i = 0; i < 3; i++)
    await expect(one.verifier.reader().rows([one.path])).rejects.toMatchObject({ code: 'data_loss' });
  await utimes(one.path, 1, 1);
  await expect(one.verifier.reader().footers([one.ref])).rejects.toMatchObject({ code: 'data_loss' });
  expect(one.told.map(({ kind }) => kind)).toEqual(['damaged']);
  await one.flip(10);
  await one.verifier.reader().footers([one.ref]);
  expect(one.told.map(({ kind }) => kind)).toEqual(['damaged', 'right']);
});

test('D33 a change while rows are read is detected before the rows are returned', async () => {
  await using one = await room();
  const reader = one.verifier.reader();
  await reader.footers([one.ref]);
  await reader.rows([one.path]);
  reader.unchanged();
  await one.flip(10);
  expect(() => reader.unchanged()).toThrow('changed while it was being read');
});

test('D33 a reader that stops waiting does not cancel the check for others, and verified blocks are not read again', async () => {
  await using one = await room();
  const stop = new AbortController();
  const first = one.verifier.reader(stop.signal).rows([one.path]);
  const second = one.verifier.reader().rows([one.path]);
  stop.abort(new Error('no longer wanted'));
  await expect(first).rejects.toThrow('no longer wanted');
  await second;
  expect(one.told).toEqual([]);
});
