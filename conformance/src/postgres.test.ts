/** The whole cloud on Postgres: it has the same guarantees as with its own files, even if either of the two is killed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { startPostgres, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { CloudUnderFire, countOf, linkTo, UploadEnd, uploadUntil } from './crash/cloud-under-load.ts';

test('a cloud on Postgres signs keys in, accepts readings, answers queries, and keeps all of it after a restart', async () => {
  await using server = await startPostgres();
  const settings = { PLATFORM_DATABASE_URL: server.url('postgres') };
  await using cloud = await CloudUnderFire.start(settings);
  const { organizationId } = cloud.demo;
  let left = 20;
  const { acknowledged } = await uploadUntil(cloud, 'counter', () => left-- === 0);
  const whole = { distinct: acknowledged, rows: acknowledged, least: 1, greatest: acknowledged };
  {
    await using link = linkTo(cloud);
    expect(await countOf(link, organizationId, 'counter')).toMatchObject(whole);
  }
  await cloud.firstStartOver();
  await cloud.stop();
  for (const name of ['meta.sqlite', 'ingest.sqlite']) expect(existsSync(join(cloud.directory, name))).toBe(false);
  await cloud.start();
  await using link = linkTo(cloud);
  expect(await countOf(link, organizationId, 'counter')).toMatchObject(whole);
  const { organizations } = await link.client(AppService).listOrganizations({});
  expect(organizations.map(({ id }) => id)).toEqual([organizationId]);
});

test('I2 I3 I5 a cloud on Postgres neither loses nor duplicates an acknowledged reading, whichever of the two is killed meanwhile', async () => {
  await using server = await startPostgres({ durable: true });
  await using cloud = await CloudUnderFire.start({ PLATFORM_DATABASE_URL: server.url('postgres') });
  const { organizationId } = cloud.demo;
  const end = new UploadEnd();
  const uploading = uploadUntil(cloud, 'counter', end.ask);
  await end.acknowledged(20);
  await cloud.kill();
  await cloud.start();
  await end.acknowledged(20);
  await server.kill();
  await server.start();
  await end.acknowledged(20);
  await server.kill();
  await cloud.kill();
  await server.start();
  await cloud.start();
  await end.acknowledged(20);
  end.isDue = true;
  const { acknowledged, retries } = await uploading;
  expect(retries).toBeGreaterThan(0);
  await using link = linkTo(cloud);
  const whole = { distinct: acknowledged, rows: acknowledged, least: 1, greatest: acknowledged };
  expect(await countOf(link, organizationId, 'counter')).toMatchObject(whole);
});

test('a database serves one cloud and one data directory at a time, and every refusal states the reason and shows no password', async () => {
  await using server = await startPostgres();
  const url = server.url('postgres').replace('postgres@', 'postgres:hunter2@');
  await using cloud = await CloudUnderFire.start({ PLATFORM_DATABASE_URL: url });
  await using elsewhere = await temporaryDirectory();
  await cloud.stop();
  const other = CloudUnderFire.startOn(elsewhere.path, { PLATFORM_DATABASE_URL: url });
  await expect(other).rejects.toThrow(/belongs to another data directory/);
  await expect(other).rejects.not.toThrow(/hunter2/);
  const forgotten = CloudUnderFire.startOn(cloud.directory, { PLATFORM_DATABASE_URL: '' });
  await expect(forgotten).rejects.toThrow(/this installation is in Postgres .* PLATFORM_DATABASE_URL is not set/);
  expect(readFileSync(join(cloud.directory, 'postgres.json'), 'utf8')).not.toContain('hunter2');
  await cloud.start();
});
