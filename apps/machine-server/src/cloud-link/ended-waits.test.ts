import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '@platform/base';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { createFaultProxy } from '@platform/testkit';
import { expect, test } from 'vitest';
import { type FakeCloud, startFakeCloud } from '../testing/fake-cloud.ts';
import { setAddress } from '../testing/set-address.ts';
import { createTestHome, startTestServer, until } from '../testing/start-test-server.ts';

/** A clock on which no wait ends by itself. @param held the ms of each */
function endless(held: number[]): Clock {
  return {
    ...systemClock,
    monotonic: () => 0,
    sleep: (ms, signal) =>
      new Promise((_resolve, reject) => {
        held.push(ms);
        if (signal?.aborted) reject(signal.reason);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
}

/** How often each of those that wait has reached the cloud. */
const reached = ({ reports, packageRequests, certificateRequests, files, gaps, logs }: FakeCloud) => ({
  ...{ reports: reports?.length ?? 0, packages: packageRequests, certificates: certificateRequests },
  ...{ files: files.size, gaps: gaps.size, logs: logs.length },
});

test('a change of the network ends the waits of all that failed to reach the cloud: reports, files, gaps, packages, the certificate, the log', async () => {
  await using cloud = await startFakeCloud({});
  await using proxy = await createFaultProxy({ host: '127.0.0.1', port: Number(new URL(cloud.url).port) });
  await using home = await createTestHome(`http://127.0.0.1:${proxy.port}`);
  const files = join(home.path, 'files');
  await mkdir(files);
  cloud.document = {
    packages: [{ name: 'demo', package: 'acme/demo', version: '1.0.0', type: 'module' }],
    services: [
      {
        ...{ name: 'dm', api: 'core:service:data_manager', model: 'builtin' },
        attributes: { sync_interval_mins: 0.002, additional_sync_paths: [files], file_last_modified_millis: 0 },
      },
    ],
  };
  // From now on, the configuration is in the cache.
  await (await startTestServer(home))[Symbol.asyncDispose]();
  await writeFile(join(files, 'a.txt'), 'a file');
  await utimes(join(files, 'a.txt'), 1, 1);
  const series = { api: 'core:component:sensor', name: 's', method: 'Readings' };
  const gap = { id: '00112233445566778899aabbccddeeff', ...series, reason: GapReason.DAMAGED };
  await writeFile(join(home.path, 'gaps.jsonl'), `${JSON.stringify({ ...gap, startUs: 1, endUs: 2, readings: 1 })}\n`);
  proxy.setFault({ kind: 'refuse' });
  const held: number[] = [];
  await using server = await startTestServer(home, endless(held));
  const before = reached(cloud);
  const waiting = () =>
    Object.entries(reached(cloud)).flatMap(([what, count]) =>
      count > before[what as keyof typeof before] ? [] : [what],
    );
  // Those in the title, except files, remote control, and the two streams for callers over WebRTC: each has failed once.
  await until('eight waits', () => held.filter((ms) => ms > 500 && ms < 1_500).length === 8);
  await until('a failed file', () => server.sync.tally.failedAttempts > 0);
  expect(waiting()).toEqual(Object.keys(before));
  proxy.setFault({ kind: 'none' });
  setAddress('fd00::2');
  await expect.poll(waiting).toEqual([]);
});
