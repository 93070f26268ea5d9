/** What only the whole edge shows: how its services are wired. Uses real ports and the time of this computer. */
import { readFileSync } from 'node:fs';
import { DataSyncService } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
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

test('D17 each message of a part on an open call is contact', async () => {
  const { url, keyId, key, partId, partSecret } = await start();
  await using owner = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  await using part = connect({
    baseUrl: url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  const lastAccessMs = async (): Promise<number> => {
    const { lastAccess } = (await owner.client(AppService).getRobotPart({ id: partId })).part ?? {};
    return lastAccess === undefined ? 0 : Number(lastAccess.seconds) * 1_000 + lastAccess.nanos / 1e6;
  };
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
  await expect.poll(lastAccessMs).toBeGreaterThan(0);
  // The first times may be those of the call itself.
  for (let round = 0; round < 4; round++) {
    const before = await lastAccessMs();
    await expect
      .poll(() => {
        push();
        return lastAccessMs();
      })
      .toBeGreaterThan(before);
  }
  isEnded = true;
  push();
  await upload.catch(() => {});
});
