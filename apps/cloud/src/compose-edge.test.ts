/** What only the whole edge shows: how its services are wired. Uses real ports and the time of this computer. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { DataSyncService } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import { connect } from '@platform/rpc/client';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { composeCloud } from './compose.ts';
import { readSettings } from './settings.ts';

async function start() {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const directory = stack.use(await temporaryDirectory());
  const settings = readSettings(['--data', directory.path, '--port', '0'], {
    ...process.env,
    PLATFORM_LOG_LEVEL: 'error',
  });
  const { ready } = stack.use(await composeCloud(settings));
  const { partSecret } = JSON.parse(readFileSync(directory.file('demo.json'), 'utf8'));
  return { ...ready, key: ready.key ?? '', partSecret: String(partSecret) };
}

test.each(['/proto.rpc.v1.AuthService/Authenticate', '/rpc/v1/authenticate'])(
  'D49 wrong keys that a page of another origin sends to %s are counted apart, and make nobody else wait',
  async (path) => {
    const { url } = await start();
    const guess = async (entity: string, headers: Record<string, string>): Promise<number> => {
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ entity, credentials: { type: 'api-key', payload: 'wrong' } }),
      });
      await answer.text();
      return answer.status;
    };
    const pages = [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }];
    for (const foreign of pages) {
      const entity = JSON.stringify(foreign);
      for (let at = 0; at < 5; at++) expect(await guess(entity, foreign)).toBe(403);
      expect([foreign, await guess(entity, foreign)]).toEqual([foreign, 429]);
      expect([foreign, await guess(entity, {}), await guess(entity, { origin: url })]).toEqual([foreign, 403, 403]);
    }
  },
);

type Owner = ReturnType<typeof connect>;

/** The credentials of a part, or of its machine. */
async function credentialsOf(who: string, owner: Owner, started: Awaited<ReturnType<typeof start>>) {
  const { partId, partSecret, machineId, organizationId } = started;
  if (who === 'the part itself') return { entity: partId, type: 'robot-secret', payload: partSecret };
  const role = { authorizationType: 'role', authorizationId: 'robot_operator', identityType: 'api-key' };
  const authorizations = [{ ...role, resourceType: 'robot', resourceId: machineId, organizationId }];
  const made = await owner.client(AppService).createKey({ name: 'of the machine', authorizations });
  return { entity: made.id, type: 'api-key', payload: made.key };
}

async function lastAccessMs(owner: Owner, id: string): Promise<number> {
  const { lastAccess } = (await owner.client(AppService).getRobotPart({ id })).part ?? {};
  return lastAccess === undefined ? 0 : Number(lastAccess.seconds) * 1_000 + lastAccess.nanos / 1e6;
}

/** Whether each piece that `push` sends is contact. The first times may be those of the call itself. */
async function eachIsContact(owner: Owner, partId: string, push: () => void): Promise<void> {
  await expect.poll(() => lastAccessMs(owner, partId)).toBeGreaterThan(0);
  for (let round = 0; round < 4; round++) {
    const before = await lastAccessMs(owner, partId);
    await expect
      .poll(() => {
        push();
        return lastAccessMs(owner, partId);
      })
      .toBeGreaterThan(before);
  }
}

const whose = ['the part itself', 'a key of its machine'];

test.each(whose)('D17 each message of an upload of %s is contact', async (who) => {
  const started = await start();
  const { url, keyId, key, partId } = started;
  await using owner = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  await using part = connect({ baseUrl: url, credentials: await credentialsOf(who, owner, started) });
  let [push, isEnded] = [(): void => {}, false];
  async function* messages() {
    yield { uploadPacket: { case: 'metadata' as const, value: { partId, fileName: 'a' } } };
    while (!isEnded) {
      await new Promise<void>((resolve) => (push = resolve));
      yield { uploadPacket: { case: 'fileContents' as const, value: { data: Uint8Array.of(1) } } };
    }
  }
  const upload = part.client(DataSyncService).fileUpload(messages());
  upload.catch(() => {});
  await eachIsContact(owner, partId, () => push());
  isEnded = true;
  push();
  await upload.catch(() => {});
});

test.each(whose)('D17 each piece of the body of a large file of %s is contact', async (who) => {
  const started = await start();
  const { url, keyId, key, partId } = started;
  await using owner = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  const credentials = await credentialsOf(who, owner, started);
  await using part = connect({ baseUrl: url, credentials });
  const [uploadKey, bytes] = [new Uint8Array(32), 10_000_000];
  await part.client(UploadService).beginUpload({ partId, key: uploadKey, size: BigInt(bytes) });
  const { entity, payload } = credentials;
  const headers = who === 'the part itself' ? { part_id: entity, secret: payload } : { key_id: entity, key: payload };
  const body = request(`${url}/uploads/${partId}/${'00'.repeat(32)}?offset=0`, {
    ...{ method: 'PUT', headers: { ...headers, 'content-length': bytes } },
  });
  body.on('error', () => {});
  onTestFinished(() => void body.destroy());
  await eachIsContact(owner, partId, () => void body.write('x'));
});
