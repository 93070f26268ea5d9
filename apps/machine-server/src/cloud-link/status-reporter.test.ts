import type { Clock } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { revisionOf } from '@platform/machine-config/robot-config';
import { expect, test } from 'vitest';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import {
  countingDocument,
  createTestHome,
  patientClock,
  startTestServer,
  until,
} from '../testing/start-test-server.ts';

/** Disables the check every 5 s until it is woken: a check in the middle of a change would add a report. */
const withoutLooks: Clock = {
  ...patientClock,
  sleep: (ms, signal) => patientClock.sleep(ms === 5_000 ? 3_600_000 : ms, signal),
};

const revision = (document: unknown): string => revisionOf(parse(document).config);

test('D10 the server reports each new revision that it applies, and what could not be built', async () => {
  const first = countingDocument(1);
  await using cloud = await startFakeCloud(first);
  await using home = await createTestHome(cloud.url);
  await using _server = await startTestServer(home, withoutLooks);
  await until('the first report', () => cloud.reports?.length === 1);
  expect(cloud.reports?.[0]).toMatchObject({ appliedRevision: revision(first), heldRevision: '', lastError: '' });
  expect(cloud.reports?.[0]?.serverVersion).not.toBe('');
  expect(cloud.reports?.[0]?.platform).toMatch(/^\w+\/\w+$/);
  const broken = {
    components: [{ name: 'arm', api: 'core:component:sensor', model: 'acme:no:such' }],
  };
  cloud.document = broken;
  await until('the second report', () => cloud.reports?.at(-1)?.appliedRevision === revision(broken));
  expect(cloud.reports?.at(-1)?.lastError).toMatch(/^core:component:sensor\/arm: /);
  expect(cloud.reports).toHaveLength(2);
});

test('a cloud without the service is asked once, and the server keeps running', async () => {
  await using cloud = await startFakeCloud(countingDocument(1));
  cloud.reports = undefined;
  await using home = await createTestHome(cloud.url);
  await using _server = await startTestServer(home);
  await until('the first attempt', () => cloud.reportAttempts === 1);
  cloud.document = countingDocument(2);
  const logs = (): number => cloud.logs.filter((line) => line === 'configuration applied').length;
  await until('another configuration', () => logs() >= 2);
  expect(cloud.reportAttempts).toBe(1);
});
