/**
 * Guarantees of a first start: the owner key is shown until it was received, secrets go only to owners and the part, stores are never
 * replaced.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkTo } from './crash/cloud-under-load.ts';

/** A cloud killed before its first start was complete; if the kill came too late, another one. */
async function cutShort(): Promise<CloudUnderFire> {
  for (;;) {
    const cloud = await CloudUnderFire.start();
    await cloud.kill();
    if (!cloud.isFirstStartOver()) return cloud;
    await cloud[Symbol.asyncDispose]();
  }
}

test('D30 after a first start that is interrupted before it shows its key, the next one shows it; later starts do not', async () => {
  await using cloud = await cutShort();
  const { keyId, key } = cloud.ready;
  await cloud.start();
  expect(cloud.ready).toMatchObject({ keyId, key });
  await cloud.firstStartOver();
  await cloud.kill();
  await cloud.start();
  expect(cloud.ready['keyId']).toBe(keyId);
  expect(cloud.ready).not.toHaveProperty('key');
});

test('D6 location secrets and private keys go to the part itself and to owners, not to operators', async () => {
  await using cloud = await CloudUnderFire.start();
  const { partId, partSecret } = cloud.demo;
  const id = { id: partId };

  await using operator = linkTo(cloud);
  const seen = await operator.client(RobotService).config(id);
  expect(seen.config?.cloud?.id).toBe(partId);
  expect(seen.config?.cloud?.locationSecrets).toEqual([]);
  await expect(operator.client(RobotService).certificate(id)).rejects.toMatchObject({ code: 'permission_denied' });

  await using part = connect({
    baseUrl: cloud.url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  const own = await part.client(RobotService).config(id);
  expect(own.config?.cloud?.locationSecrets).toHaveLength(1);
  expect((await part.client(RobotService).certificate(id)).tlsPrivateKey).toContain('PRIVATE KEY');
});

test.each(['meta.sqlite', 'ingest.sqlite'])(
  'a start is refused if %s of earlier starts is missing, and nothing is created or removed',
  async (name) => {
    await using cloud = await CloudUnderFire.start();
    await cloud.firstStartOver();
    await cloud.stop();
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(cloud.directory, name + suffix), { force: true });
    await expect(cloud.start()).rejects.toThrow(`expected ${name} of earlier starts, found it missing or empty`);
    expect(existsSync(join(cloud.directory, name))).toBe(false);
  },
);

test('the test inbox shows received messages only to keys of this installation', async () => {
  await using cloud = await CloudUnderFire.start();
  const answer = await fetch(`${cloud.url}/test-inbox/requests`);
  expect(answer.status).toBe(401);
});
