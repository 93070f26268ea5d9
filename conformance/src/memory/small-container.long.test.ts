/** D34: a cloud in a container of 512 MB. */
import { asPlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { containerBytes, startContainer } from './start-container.ts';
import { startUploading } from './start-uploading.ts';

const readings = 16_000;
const readingBytes = 5_000;

test('D34 in a container of 512 MB, a query that needs more memory than there is gets an error, and the process that answers queries lives on', async () => {
  await using cloud = await startContainer();
  const { url, client, tenant, memory } = cloud;
  const uploading = startUploading(url, tenant, {
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
    outcomes[name] = await client.queryMql(tenant.organizationId, stages).then(
      ([row]) => `answered ${row?.['n']}`,
      (caught: unknown) => asPlatformError(caught).code,
    );
  }
  console.log(
    JSON.stringify({
      outcomes,
      peakMB: Math.round(memory.peakBytes / 1e6),
      of: memory.peakByCommand,
      kills: cloud.kills(),
    }),
  );
  expect(outcomes['all rows in one group']).toBe('resource_exhausted');
  for (const outcome of Object.values(outcomes))
    expect([`answered ${readings}`, 'resource_exhausted']).toContain(outcome);
  expect(outcomes['a number']).toBe(`answered ${readings}`);
  expect(cloud.kills()).toBe(0);
  expect(cloud.stderr(), 'sealing and answering went on').toBe('');
  // Not every system enforces the limit.
  expect(memory.peakBytes).toBeLessThanOrEqual(containerBytes);
});
