/** D34: a cloud in a container of 512 MB. */
import { asPlatformError } from '@platform/base';
import { openCloud } from '@platform/sdk/cloud';
import { freePort, spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { cloudCommand, cloudEnvironment } from '../cloud-command.ts';
import { limitMemory } from './limit-memory.ts';
import { startUploading } from './start-uploading.ts';
import { watchMemory } from './watch-memory.ts';

const containerBytes = 512 * 1024 ** 2;
const readings = 16_000;
const readingBytes = 5_000;

test('D34 in a container of 512 MB, a query that needs more memory than there is gets an error, and the process that answers queries lives on', async () => {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory('container-'));
  const limit = limitMemory(containerBytes);
  if (limit === undefined) throw new Error('expected to be allowed to limit the memory of a process (control groups)');
  stack.use(limit);
  const port = await freePort();
  const args = [...cloudCommand, '--data', directory.path, '--port', String(port)];
  const [command = '', ...words] = [...limit.prefix, process.execPath, ...args];
  const env = { ...cloudEnvironment, PLATFORM_LOG_LEVEL: 'error' };
  const child = spawnChild(command, words, { env });
  stack.defer(async () => void (await child.kill('SIGTERM')));
  const { url, keyId, key } = (await child.waitForLine(({ event }) => event === 'ready')) as Record<string, string>;
  const client = stack.use(openCloud({ url: url ?? '', keyId: keyId ?? '', key: key ?? '', timeoutMs: 120_000 }));
  const memory = stack.use(watchMemory(child.pid, (pid) => (pid === child.pid ? 'cloud' : 'tabular')));

  const { app } = client;
  const organizationId = (await app.createOrganization({ name: 'Container' })).organization?.id ?? '';
  const location = (await app.createLocation({ organizationId, name: 'L' })).location?.id ?? '';
  const robotId = (await app.newRobot({ name: 'M', location })).id;
  const [part] = (await app.getRobotParts({ robotId })).parts;
  const tenant = { organizationId, partId: part?.id ?? '', partSecret: part?.secret ?? '' };
  const uploading = startUploading(url ?? '', tenant, {
    nextBytes: (n) => (n <= readings ? readingBytes : undefined),
    bytesPerSecond: 8_000_000,
  });
  await uploading.finished;

  const outcomes: Record<string, string> = {};
  const queries = {
    'all rows in one group': [
      { $group: { _id: null, rows: { $push: '$$ROOT' } } },
      { $project: { n: { $size: '$rows' } } },
    ],
    'a group for each text': [
      { $group: { _id: '$data.readings.text', n: { $sum: 1 } } },
      { $group: { _id: null, n: { $sum: '$n' } } },
    ],
    'all rows in order of their texts': [
      { $sort: { 'data.readings.text': 1 } },
      { $group: { _id: null, n: { $sum: 1 } } },
    ],
    'a number': [{ $group: { _id: null, n: { $sum: 1 } } }],
  };
  for (const [name, stages] of Object.entries(queries)) {
    outcomes[name] = await client.queryMql(organizationId, stages).then(
      ([row]) => `answered ${row?.['n']}`,
      (caught: unknown) => asPlatformError(caught).code,
    );
  }
  console.log(
    JSON.stringify({
      outcomes,
      peakMB: Math.round(memory.peakBytes / 1e6),
      of: memory.peakByCommand,
      kills: limit.kills(),
    }),
  );
  expect(outcomes['all rows in one group']).toBe('resource_exhausted');
  for (const outcome of Object.values(outcomes))
    expect([`answered ${readings}`, 'resource_exhausted']).toContain(outcome);
  expect(outcomes['a number']).toBe(`answered ${readings}`);
  expect(limit.kills()).toBe(0);
  expect(child.stderr, 'sealing and answering went on').toBe('');
  // Not every system enforces the limit.
  expect(memory.peakBytes).toBeLessThanOrEqual(containerBytes);
});
