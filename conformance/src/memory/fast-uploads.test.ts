/** D34 I9: many small files are sealed and merged in a container of 512 MB while queries run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { asPlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { containerBytes, startContainer } from './start-container.ts';
import { startUploading } from './start-uploading.ts';

const machines = 6;
const readingsEach = 2_000;
/** Just too small, on average, to be handled a few at a time, so that sorting them takes much memory. */
const readingBytes = [5_000, 1_000, 12_000];

test('D34 I9 in a container of 512 MB, fast uploads that are sealed every 2 s neither end the process that answers queries nor fail to be sealed, and rows can be counted meanwhile', async () => {
  await using cloud = await startContainer({ PLATFORM_SEAL_AGE: '2s' });
  const { url, client, tenant, memory } = cloud;
  const uploading = Array.from({ length: machines }, () =>
    startUploading(url, tenant, {
      nextBytes: (n) => (n <= readingsEach ? readingBytes[n % readingBytes.length] : undefined),
    }),
  );
  const counted = async (): Promise<number> => {
    const [row] = await client.queryMql(tenant.organizationId, [{ $group: { _id: null, n: { $sum: 1 } } }]);
    return Number(row?.['n'] ?? 0);
  };
  const failures: string[] = [];
  const over = new AbortController();
  const asking = (async () => {
    while (!over.signal.aborted) {
      await counted().catch((caught: unknown) => failures.push(asPlatformError(caught).message));
      await sleep(250);
    }
  })();
  await Promise.all(uploading.map(({ finished }) => finished));
  over.abort();
  await asking;
  const readings = await counted();
  console.log(
    JSON.stringify({
      readings,
      files: cloud.sealedFiles(),
      peakMB: Math.round(memory.peakBytes / 1e6),
      of: memory.peakByCommand,
      kills: cloud.kills(),
    }),
  );
  expect(failures).toEqual([]);
  expect(readings).toBe(machines * readingsEach);
  expect(cloud.sealedFiles()).toBeGreaterThan(0);
  expect(cloud.kills()).toBe(0);
  expect(cloud.stderr(), 'sealing and answering went on').toBe('');
  // Not every system enforces the limit.
  expect(memory.peakBytes).toBeLessThanOrEqual(containerBytes);
});
