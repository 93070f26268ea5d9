import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import { connect } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { startUploadServer, type UploadServer } from '../testing/upload-server.ts';

const content = randomBytes(3_000_000);
const sha256 = createHash('sha256').update(content).digest();
const key = randomBytes(32);
const hex = key.toString('hex');
const partId = 'part-1';
const metadata = { partId, type: DataType.FILE, fileName: '/data/large.bin', fileExtension: '.bin' };
const options = { signal: new AbortController().signal, quietMs: 10_000 };

async function start(size = content.length) {
  const server = await startUploadServer();
  const link = connect({ baseUrl: server.url });
  onTestFinished(async () => {
    await link[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  const client = link.client(UploadService);
  const begun = () => client.beginUpload({ partId, key, size: BigInt(size) });
  const put = (offset: number, end: number, part = partId) =>
    link.put(
      {
        path: `/uploads/${part}/${hex}?offset=${offset}`,
        bytes: end - offset,
        write: async (send) => {
          for (let at = offset; at < end; at += 100_000) await send(content.subarray(at, Math.min(end, at + 100_000)));
        },
      },
      options,
    );
  return { server, link, client, begun, put };
}

/** Bytes of all staged uploads. */
async function stagedBytes({ blobDirectory }: UploadServer): Promise<number> {
  const folder = join(blobDirectory, '../staged/org');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.part'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('a file in long bodies is stored byte for byte; a body at another offset changes nothing and returns the current offset', async () => {
  const { server, client, begun, put } = await start();
  expect(await begun()).toMatchObject({ offset: 0n, maxBodyBytes: BigInt(64 * 1024 * 1024) });
  expect(await put(0, 1_000_000)).toEqual({ offset: 1_000_000 });
  expect(await put(0, 1_000_000)).toEqual({ offset: 1_000_000 });
  expect(await put(2_000_000, 3_000_000)).toEqual({ offset: 1_000_000 });
  // Calls and bodies may alternate.
  expect(
    await client.writeUpload({ partId, key, offset: 1_000_000n, data: content.subarray(1_000_000, 1_200_000) }),
  ).toMatchObject({ offset: 1_200_000n });
  expect(await put(1_200_000, 3_000_000)).toEqual({ offset: 3_000_000 });
  const { binaryDataId } = await client.finishUpload({ metadata, key, sha256 });
  expect(binaryDataId).not.toBe('');
  const [stored] = (await readdir(server.blobDirectory, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  expect((await readFile(join(stored?.parentPath ?? '', stored?.name ?? ''))).equals(content)).toBe(true);
});

test('what arrived of a body before its connection broke stays; a sender that begins again does not wait for the rest', async () => {
  const { server, client, begun, put } = await start();
  await begun();
  const socket = connectSocket(server.port, server.host);
  onTestFinished(() => void socket.destroy());
  socket.write(
    `PUT /uploads/${partId}/${hex}?offset=0 HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${content.length}\r\n\r\n`,
  );
  // Held open, as by a network that has gone away.
  socket.write(content.subarray(0, 1_500_000));
  const pieces = 1_048_576;
  while ((await stagedBytes(server)) < pieces) await sleep(10);
  const offset = Number((await begun()).offset);
  expect(offset).toBeGreaterThanOrEqual(pieces);
  expect(await put(offset, content.length)).toEqual({ offset: content.length });
  expect((await client.finishUpload({ metadata, key, sha256 })).binaryDataId).not.toBe('');
});

test("bodies for another owner's part, beyond the declared size, empty or of unknown length are refused before they are read", async () => {
  const { server, begun, put } = await start(2_000_000);
  await begun();
  await expect(put(0, 1_000, 'part-2')).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(put(0, 1_000, 'part-3')).rejects.toMatchObject({ code: 'not_found' });
  await expect(put(0, 3_000_000)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: 'expected at most the 2000000 bytes that BeginUpload declared, found a piece that ends at 3000000',
  });
  const url = `${server.url}/uploads/${partId}/${hex}`;
  const chunked = await fetch(`${url}?offset=0`, {
    ...{ method: 'PUT', duplex: 'half' },
    body: new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.of(1));
        controller.close();
      },
    }),
  } as RequestInit);
  expect([chunked.status, await chunked.json()]).toEqual([
    400,
    { code: 'invalid_argument', message: 'content-length: expected a whole number up to 67108864, found ""' },
  ]);
  for (const wrong of [url, `${url}0?offset=0`, `${url}?offset=-1`, `${url}?offset=1e3`])
    expect((await fetch(wrong, { method: 'PUT', body: 'x' })).status, wrong).toBe(400);
  expect((await fetch(`${server.url}/uploads/%zz/${hex}?offset=0`, { method: 'PUT', body: 'x' })).status).toBe(404);
});

test('I13 on a full disk no body is read', async () => {
  const { server, put } = await start();
  server.setFreeBytes(0);
  await expect(put(0, 1_000)).rejects.toMatchObject({ code: 'resource_exhausted', retryAfterMs: 30_000 });
});
