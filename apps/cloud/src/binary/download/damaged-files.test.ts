import { link, mkdir, open, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asPlatformError, silentLog } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { callers, data, type OpenBinary, openBinary } from '../testing/open-binary.ts';
import { createOpenFile } from './open-file.ts';

interface Damages extends OpenBinary {
  /** Path of the payload. */
  payload(id: string): Promise<string>;
  /** Requests the file by id with its bytes: the code of the answer, or `ok`. */
  byId(id: string): Promise<string>;
  /** Requests a signed address: the code of the answer, `cut`, or the bytes. */
  download(id: string, headers?: Record<string, string>, method?: string): Promise<string>;
}

async function openDamages(): Promise<Damages> {
  const on = await openBinary();
  const server = createServer((request, response) => {
    on.binary.download(request, response, new URL(request.url ?? '', 'http://cloud.test')).catch((caught: unknown) => {
      response.writeHead(500).end(asPlatformError(caught).code);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  if (callers.owner.kind === 'key') on.standing.set(callers.owner.keyId, callers.owner);
  const { port } = server.address() as AddressInfo;
  return {
    ...on,
    async payload(id) {
      await on.binary.caughtUp(new AbortController().signal);
      const { blob_path: path } = await on.db
        .selectFrom('binary_data')
        .select('blob_path')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return `${on.blobDirectory}/${path}`;
    },
    byId: (id) =>
      on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [id], includeBinary: true }).then(
        () => 'ok',
        (caught: unknown) => {
          const { code, message } = asPlatformError(caught);
          return message.includes(id) ? code : message;
        },
      ),
    async download(id, headers = {}, method = 'GET') {
      const { signedUrl } = await on.ask(callers.owner, data.createBinaryDataSignedURL, { binaryDataId: id });
      const url = signedUrl.replace('http://cloud.test', `http://127.0.0.1:${port}`);
      const answer = await fetch(url, { headers, method });
      return answer.text().catch(() => 'cut');
    },
  };
}

async function flip(file: string, at = 3): Promise<void> {
  await using handle = await open(file, 'r+');
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
  await handle.write(Buffer.of((buffer[0] ?? 0) ^ 4), 0, 1, at);
}

/** The path of the other payload is passed as well. */
const damages: Readonly<Record<string, (file: string, other: string) => Promise<unknown>>> = {
  'a flipped bit': (file) => flip(file),
  'a flipped bit and unchanged times': async (file) => {
    await flip(file);
    await utimes(file, 1, 1);
  },
  'a cut end': (file) => truncate(file, 5),
  'a longer end': async (file) => writeFile(file, Buffer.concat([await readFile(file), Buffer.of(0)])),
  'nothing there': (file) => rm(file),
  'another payload of the same length in its place': async (file, other) => rename(other, file),
  'a hard link to another payload': async (file, other) => {
    await rm(file);
    await link(other, file);
  },
  'a symbolic link to another payload': async (file, other) => {
    await rm(file);
    await symlink(other, file);
  },
  'a folder in its place': async (file) => {
    await rm(file);
    await mkdir(file);
  },
};

for (const [name, damage] of Object.entries(damages))
  test(`D33 a payload with ${name} is DATA_LOSS by id, by address and in ranges, even after it was served`, async () => {
    const on = await openDamages();
    const [id, other] = [await on.upload({ content: 'picture A' }), await on.upload({ content: 'picture B' })];
    expect([await on.byId(id), await on.download(id), await on.byId(other)]).toEqual(['ok', 'picture A', 'ok']);
    await damage(await on.payload(id), await on.payload(other));
    const range = { range: 'bytes=6-7' };
    expect(await on.byId(id)).toBe('data_loss');
    expect(await on.download(id)).toBe('data_loss');
    expect(await on.download(id, range)).toBe('data_loss');
    expect([...on.binary.damagedFiles()]).toEqual([id]);
    const { data: page } = await on.ask(callers.owner, data.binaryDataByFilter, {});
    expect(page).toHaveLength(2);
  });

test('D33 a restored payload is served again and is no longer reported as damaged', async () => {
  const on = await openDamages();
  const id = await on.upload({ content: 'picture A' });
  const file = await on.payload(id);
  const right = await readFile(file);
  await flip(file);
  expect(await on.download(id)).toBe('data_loss');
  await writeFile(file, right);
  expect([await on.download(id), await on.byId(id)]).toEqual(['picture A', 'ok']);
  expect([...on.binary.damagedFiles()]).toEqual([]);
});

test('D33 a payload that changes while it is sent is never sent completely', async () => {
  const on = await openDamages();
  const id = await on.upload({ content: new Uint8Array(20_000_000).fill(7) });
  await on.byId(id);
  const row = await on.db.selectFrom('binary_data').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const { openFile } = createOpenFile({ db: on.db, blobs: on.blobs, onSent: () => {}, log: silentLog });
  for (const range of [undefined, { start: 1, end: 19_999_998 }]) {
    const reader = (await openFile(row, range))?.[Symbol.asyncIterator]();
    await reader?.next();
    await flip(await on.payload(id), 19_000_000);
    let ended = '';
    while (ended === '')
      ended = await (reader?.next() ?? Promise.reject(new Error('expected bytes'))).then(
        ({ done }) => (done === true ? 'whole' : ''),
        (caught: unknown) => asPlatformError(caught).code,
      );
    expect(ended).toBe('data_loss');
    await flip(await on.payload(id), 19_000_000);
  }
});
