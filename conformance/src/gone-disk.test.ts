/** I2: a cloud whose data directory can no longer be read. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { asPlatformError } from '@platform/base';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner, pauseMs } from './crash/cloud-under-load.ts';

const stores = ['meta.sqlite', 'ingest.sqlite'];

// From some time on, every read of these files fails, as after a disk was pulled out; what the system has in memory may still be read.
test.each([
  [
    'a cloud whose stores can no longer be read ends',
    [...stores, ...stores.map((name) => `${name}-wal`), 'platform.json'],
  ],
  ['a cloud ends if only the file of a store can no longer be read, not its write-ahead log', ['meta.sqlite']],
])('I2 %s, instead of answering that they cannot be read', async (_, paths) => {
  await using cloud = await CloudUnderFire.start();
  await cloud.firstStartOver();
  await using link = linkOfOwner(cloud);
  const app = link.client(AppService);
  const { organizationId } = cloud.demo;
  const failing = spawn('strace', [
    ...['-f', '-qq', '-o', '/dev/null', '-p', String(cloud.pid)],
    ...paths.flatMap((name) => ['-P', join(cloud.directory, name)]),
    ...['-e', 'trace=pread64,read', '-e', 'inject=pread64,read:error=EIO'],
  ]);
  const detached = once(failing, 'exit');
  const answers = new Set<string>();
  let hasEnded = false;
  void cloud.exited.then(() => (hasEnded = true));
  for (let n = 0; !hasEnded; n++) {
    // The edit lets the next read look at the file instead of at what it has in memory.
    const edit = app.updateOrganization({ organizationId, name: `Name ${n}` });
    const read = app.listLocations({ organizationId });
    for (const outcome of await Promise.allSettled([edit, read]))
      answers.add(outcome.status === 'rejected' ? asPlatformError(outcome.reason).message : 'ok');
    await pauseMs(20);
  }
  expect((await cloud.exited)?.code).toBe(70);
  expect(cloud.stderr).toContain('stopping without answering');
  expect([...answers].filter((answer) => answer.includes('cannot be read'))).toEqual([]);
  await detached;

  await cloud.start();
  await app.listLocations({ organizationId });
});
