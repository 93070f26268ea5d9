import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DescService } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { DataSyncService } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Client, Link } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { uploadFile } from './upload-file.ts';

const chunk = 4 * 1024 * 1024;
const content = randomBytes(5 * chunk - 1_000);

/** A cloud that stages uploads in memory, and can break them. */
class StagingCloud {
  readonly staged = new Map<string, Buffer>();
  readonly written: number[] = [];
  finished: Uint8Array | undefined;
  /** Bytes that came in one stream. */
  streamed = 0;
  before: (offset: number) => void = () => {};
  canStage = true;
  /** Called before an upload is finished, with the name of its staged bytes. */
  finishing: (name: string) => void = () => {};
  maxBodyBytes = 0;
  /** Offsets and lengths of bodies. */
  readonly bodies: [number, number][] = [];

  readonly link: Pick<Link, 'client' | 'put'> = {
    client: <S extends DescService>(service: S) =>
      (service.typeName === DataSyncService.typeName ? this.#stream : this.#pieces) as unknown as Client<S>,
    put: async ({ path, bytes, write }) => {
      const [, part, name = '', offset] = /^\/uploads\/(.*)\/(\w{64})\?offset=(\d+)$/.exec(path) ?? [];
      expect(part).toBe('part');
      this.before(Number(offset));
      let found = 0;
      await write(async (piece) => {
        found += piece.length;
        this.staged.set(name, Buffer.concat([this.staged.get(name) ?? Buffer.alloc(0), piece]));
      });
      expect(found).toBe(bytes);
      this.bodies.push([Number(offset), bytes]);
      return { offset: Number(offset) + bytes };
    },
  };

  readonly #stream = {
    fileUpload: async (requests: AsyncIterable<{ uploadPacket: { case: string; value: { data?: Uint8Array } } }>) => {
      for await (const { uploadPacket } of requests) this.streamed += uploadPacket.value.data?.length ?? 0;
    },
  };

  readonly #pieces = {
    beginUpload: async ({ key }: { key: Uint8Array }) => {
      if (!this.canStage) throw new PlatformError('unimplemented', 'no such service');
      const name = Buffer.from(key).toString('hex');
      const bytes = this.staged.get(name) ?? Buffer.alloc(0);
      this.staged.set(name, bytes);
      return {
        offset: BigInt(bytes.length),
        maxChunkBytes: 0,
        maxBodyBytes: BigInt(this.maxBodyBytes),
        binaryDataId: '',
      };
    },
    writeUpload: async ({ key, offset, data }: { key: Uint8Array; offset: bigint; data: Uint8Array }) => {
      this.before(Number(offset));
      const name = Buffer.from(key).toString('hex');
      const bytes = Buffer.concat([this.staged.get(name) ?? Buffer.alloc(0), data]);
      this.staged.set(name, bytes);
      this.written.push(Number(offset));
      return { offset: BigInt(bytes.length) };
    },
    finishUpload: async ({ key, sha256 }: { key: Uint8Array; sha256: Uint8Array }) => {
      this.finishing(Buffer.from(key).toString('hex'));
      this.finished = sha256;
      return { binaryDataId: 'id' };
    },
  };
}

async function file(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'resumable-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'large.bin');
  await writeFile(path, content);
  return path;
}

function upload(path: string, { link }: StagingCloud): ReturnType<typeof uploadFile> {
  const context = { link, partId: 'part', tags: [], rate: { take: async () => {} } };
  return uploadFile(path, dirname(path), context, new AbortController().signal);
}

test('a large file whose upload breaks at 80 % continues there, and its checksum is that of the whole', async () => {
  const [path, cloud] = [await file(), new StagingCloud()];
  cloud.before = (offset) => {
    if (offset === 4 * chunk) throw new PlatformError('unavailable', 'the link broke');
  };
  expect(await upload(path, cloud)).toMatchObject({ kind: 'later', code: 'unavailable' });
  cloud.before = () => {};
  expect(await upload(path, cloud)).toMatchObject({ kind: 'accepted', bytes: content.length });
  expect(cloud.written).toEqual([0, chunk, 2 * chunk, 3 * chunk, 4 * chunk]);
  expect([...cloud.staged.values()].map((bytes) => bytes.equals(content))).toEqual([true]);
  expect(Buffer.from(cloud.finished ?? []).equals(createHash('sha256').update(content).digest())).toBe(true);
});

test('the upload of a large file that has changed since it was interrupted starts over', async () => {
  const [path, cloud] = [await file(), new StagingCloud()];
  cloud.before = (offset) => {
    if (offset === chunk) throw new PlatformError('unavailable', 'the link broke');
  };
  await upload(path, cloud);
  await utimes(path, 1, 1);
  cloud.before = () => {};
  await upload(path, cloud);
  expect(cloud.written).toEqual([0, 0, chunk, 2 * chunk, 3 * chunk, 4 * chunk]);
});

test('a cloud that cannot stage uploads gets a large file in one stream', async () => {
  const [path, cloud] = [await file(), new StagingCloud()];
  cloud.canStage = false;
  expect(await upload(path, cloud)).toMatchObject({ kind: 'accepted' });
  expect(cloud).toMatchObject({ streamed: content.length, finished: undefined });
});

test('a cloud that accepts long bodies gets them; a broken one is continued, and its checksum is that of the whole', async () => {
  const [path, cloud] = [await file(), new StagingCloud()];
  const [most, rest] = [2 * chunk, content.length - 4 * chunk];
  cloud.maxBodyBytes = most;
  cloud.before = (offset) => {
    if (offset === 2 * most) throw new PlatformError('unavailable', 'the link broke');
  };
  expect(await upload(path, cloud)).toMatchObject({ kind: 'later', code: 'unavailable' });
  cloud.before = () => {};
  expect(await upload(path, cloud)).toMatchObject({ kind: 'accepted', bytes: content.length });
  expect(cloud).toMatchObject({
    written: [],
    bodies: [
      [0, most],
      [most, most],
      [2 * most, rest],
    ],
  });
  expect([...cloud.staged.values()].map((bytes) => bytes.equals(content))).toEqual([true]);
  expect(Buffer.from(cloud.finished ?? []).equals(createHash('sha256').update(content).digest())).toBe(true);
});

test('if a proxy on the way does not let long bodies pass, the file is sent in calls', async () => {
  const [path, cloud] = [await file(), new StagingCloud()];
  cloud.maxBodyBytes = 64 * 1024 * 1024;
  let isFirst = true;
  cloud.before = () => {
    if (isFirst) {
      isFirst = false;
      throw new PlatformError('unimplemented', 'status 413 of something else');
    }
  };
  expect(await upload(path, cloud)).toMatchObject({ kind: 'accepted' });
  expect(cloud).toMatchObject({ bodies: [], written: [0, chunk, 2 * chunk, 3 * chunk, 4 * chunk] });
  expect(Buffer.from(cloud.finished ?? []).equals(createHash('sha256').update(content).digest())).toBe(true);
});

test.each([
  ['in calls', 'aborted', 0],
  ['in long bodies', 'aborted', 64 * 1024 * 1024],
] as const)(
  'D15 a large file sent %s whose staged bytes were damaged (%s) is sent again, and never set aside',
  async (_how, code, maxBodyBytes) => {
    const [path, cloud] = [await file(), new StagingCloud()];
    cloud.maxBodyBytes = maxBodyBytes;
    const sent: (Buffer | undefined)[] = [];
    cloud.finishing = (name) => {
      sent.push(cloud.staged.get(name));
      cloud.staged.delete(name);
      if (sent.length < 3) throw new PlatformError(code, 'expected the SHA-256 of the file, found another');
    };
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await upload(path, cloud)).toEqual({
        ...{ kind: 'later', code: 'aborted', message: 'expected the SHA-256 of the file, found another' },
        ...{ retryAfterMs: undefined, isCutOff: false },
      });
    expect(await upload(path, cloud)).toMatchObject({ kind: 'accepted', bytes: content.length });
    expect(sent.map((bytes) => bytes?.equals(content))).toEqual([true, true, true]);
  },
);
