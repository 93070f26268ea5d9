import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { systemClock } from '@platform/base';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import { connect } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { placeOf, startUploadServer, type UploadServer } from '../testing/upload-server.ts';
import { StagedUploads } from './staged-uploads.ts';

const content = randomBytes(300_000);
const sha256 = createHash('sha256').update(content).digest();
const key = randomBytes(32);
const partId = 'part-1';
const metadata = {
  ...{ partId, type: DataType.FILE, fileName: '/data/large.bin', fileExtension: '.bin' },
  fileModifyTime: timestampFromMs(1_760_000_000_000),
};

async function start() {
  const server = await startUploadServer();
  const link = connect({ baseUrl: server.url });
  onTestFinished(async () => {
    await link[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  return { server, client: link.client(UploadService), link };
}

/** The payloads that the log names. */
async function payloads({ blobDirectory }: UploadServer): Promise<string[]> {
  const entries = await readdir(blobDirectory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

async function bytesOf(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test('a large upload that breaks off continues where it stopped, is stored byte for byte, and a lost answer is given again', async () => {
  const { server, client } = await start();
  const begin = () => client.beginUpload({ partId, key, size: BigInt(content.length) });
  const write = (offset: number, end: number) =>
    client.writeUpload({ partId, key, offset: BigInt(offset), data: content.subarray(offset, end) });
  expect(await begin()).toMatchObject({ offset: 0n, binaryDataId: '' });
  expect(await write(0, 100_000)).toMatchObject({ offset: 100_000n });
  // A repeated write whose first answer was lost adds nothing; neither does one beyond the end.
  expect(await write(0, 100_000)).toMatchObject({ offset: 100_000n });
  expect(await write(200_000, 300_000)).toMatchObject({ offset: 100_000n });
  expect(await begin()).toMatchObject({ offset: 100_000n });
  await write(100_000, 300_000);
  const { binaryDataId } = await client.finishUpload({ metadata, key, sha256 });
  expect(binaryDataId).not.toBe('');
  expect(await client.finishUpload({ metadata, key, sha256 })).toMatchObject({ binaryDataId });
  expect(await begin()).toMatchObject({ binaryDataId });
  const stored = await payloads(server);
  expect(stored).toHaveLength(1);
  expect(stored[0]).toMatch(/\.bin$/);
  expect((await bytesOf(stored[0] ?? '')).equals(content)).toBe(true);
  expect(server.log.lastPosition()).toBe(1);
});

test('D13 a file that arrives in pieces and in one stream is one upload', async () => {
  const { server, client, link } = await start();
  await client.beginUpload({ partId, key, size: BigInt(content.length) });
  await client.writeUpload({ partId, key, offset: 0n, data: content });
  const { binaryDataId } = await client.finishUpload({ metadata, key, sha256 });
  async function* packets() {
    yield { uploadPacket: { case: 'metadata' as const, value: metadata } };
    yield { uploadPacket: { case: 'fileContents' as const, value: { data: content } } };
  }
  expect(await link.client(DataSyncService).fileUpload(packets())).toMatchObject({ binaryDataId });
  expect(server.log.lastPosition()).toBe(1);
});

const damaged = {
  code: 'aborted',
  message: expect.stringMatching(/^the 300000 staged bytes of the upload were damaged: .*begin the upload again$/),
};

test('I5 D15 staged bytes that differ from what was sent are refused with ABORTED and removed; the next attempt is a first one', async () => {
  const { server, client } = await start();
  const upload = async (data: Uint8Array) => {
    expect(await client.beginUpload({ partId, key, size: BigInt(content.length) })).toMatchObject({ offset: 0n });
    await client.writeUpload({ partId, key, offset: 0n, data });
    return client.finishUpload({ metadata, key, sha256 });
  };
  await expect(upload(Buffer.concat([content.subarray(1), Buffer.of(0)]))).rejects.toMatchObject(damaged);
  expect([await payloads(server), server.log.lastPosition()]).toEqual([[], 0]);
  await expect(client.writeUpload({ partId, key, offset: 0n, data: content })).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  expect((await upload(content)).binaryDataId).not.toBe('');
  const [stored = '', ...others] = await payloads(server);
  expect([(await bytesOf(stored)).equals(content), others, server.log.lastPosition()]).toEqual([true, [], 1]);
});

test('I5 D15 bytes that were damaged while they were staged, as by a power cut, are found when they are read again: ABORTED', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'staged-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const place = { organizationId: placeOf(partId).organizationId, partId, key };
  const first = new StagedUploads(folder, systemClock);
  await first.begin(place, content.length);
  await first.write(place, 0, content.length, once(content));
  const name = (await readdir(join(folder, 'org'))).find((each) => each.endsWith('.part')) ?? '';
  const bytes = Buffer.from(content);
  bytes.writeUInt8(bytes.readUInt8(200_000) ^ 1, 200_000);
  await writeFile(join(folder, 'org', name), bytes);
  const second = new StagedUploads(folder, systemClock);
  await expect(second.complete(place, sha256)).rejects.toMatchObject(damaged);
  expect(await readdir(join(folder, 'org'))).toEqual([]);
});

test('an upload has exactly the size that BeginUpload declared: more is refused with both numbers, less cannot be finished', async () => {
  const { server, client } = await start();
  await client.beginUpload({ partId, key, size: 200_000n });
  await client.writeUpload({ partId, key, offset: 0n, data: content.subarray(0, 150_000) });
  await expect(
    client.writeUpload({ partId, key, offset: 150_000n, data: content.subarray(150_000, 200_001) }),
  ).rejects.toMatchObject({
    code: 'invalid_argument',
    message: 'expected at most the 200000 bytes that BeginUpload declared, found a piece that ends at 200001',
  });
  const finish = (bytes: number) =>
    client.finishUpload({ metadata, key, sha256: createHash('sha256').update(content.subarray(0, bytes)).digest() });
  await expect(finish(150_000)).rejects.toMatchObject({
    code: 'failed_precondition',
    message:
      'expected the 200000 bytes that BeginUpload declared, found 150000: begin the upload again, which continues it',
  });
  expect(await client.beginUpload({ partId, key, size: 200_000n })).toMatchObject({ offset: 150_000n });
  await client.writeUpload({ partId, key, offset: 150_000n, data: content.subarray(150_000, 200_000) });
  expect((await finish(200_000)).binaryDataId).not.toBe('');
  expect((await bytesOf((await payloads(server))[0] ?? '')).length).toBe(200_000);
  // Another file with the same key starts over.
  const other = randomBytes(32);
  await client.beginUpload({ partId, key: other, size: 10n });
  await client.writeUpload({ partId, key: other, offset: 0n, data: content.subarray(0, 10) });
  expect(await client.beginUpload({ partId, key: other, size: 11n })).toMatchObject({ offset: 0n });
});

test('too much staged data of an organization is RESOURCE_EXHAUSTED with a delay; too large a file is refused at once', async () => {
  const { client } = await start();
  const begin = (size: number) => client.beginUpload({ partId, key: randomBytes(32), size: BigInt(size) });
  await expect(begin(65 * 1024 * 1024)).rejects.toMatchObject({ code: 'failed_precondition' });
  for (let count = 0; count < 3; count++) await begin(1_000);
  await expect(begin(1_000)).rejects.toMatchObject({ code: 'resource_exhausted', retryAfterMs: 60_000 });
});

test("uploads for another owner's part, with a short key or too large pieces are refused", async () => {
  const { client } = await start();
  await expect(client.beginUpload({ partId: 'part-2', key, size: 1n })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(client.beginUpload({ partId, key: key.subarray(1), size: 1n })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  await client.beginUpload({ partId, key, size: 9_000_000n });
  const data = new Uint8Array(4 * 1024 * 1024 + 1);
  await expect(client.writeUpload({ partId, key, offset: 0n, data })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});

test('I13 on a full disk no piece is read', async () => {
  const { server, client } = await start();
  server.setFreeBytes(0);
  await expect(client.beginUpload({ partId, key, size: 1n })).rejects.toMatchObject({
    ...{ code: 'resource_exhausted', retryAfterMs: 30_000 },
  });
});

test('after a restart the checksum covers earlier bytes, a truncated file continues, and an idle upload expires after a week', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'staged-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const place = { organizationId: placeOf(partId).organizationId, partId, key };
  const first = new StagedUploads(folder, systemClock);
  await first.begin(place, content.length);
  await first.write(place, 0, 200_000, once(content.subarray(0, 200_000)));
  const name = (await readdir(join(folder, 'org'))).find((each) => each.endsWith('.part')) ?? '';
  await truncate(join(folder, 'org', name), 150_000);
  const second = new StagedUploads(folder, systemClock);
  expect(await second.begin(place, content.length)).toBe(150_000);
  await second.write(place, 150_000, 150_000, once(content.subarray(150_000)));
  expect(await second.complete(place, sha256)).toMatchObject({ sizeBytes: content.length });
  expect(await second.expire()).toBe(0);
  const old = Date.now() / 1_000 - 8 * 24 * 3_600;
  await utimes(join(folder, 'org', name), old, old);
  await writeFile(join(folder, 'org', name.replace('.part', '.done')), 'answer');
  expect(await second.expire()).toBe(1);
  expect(await readdir(join(folder, 'org'))).toEqual([name.replace('.part', '.done')]);
});
