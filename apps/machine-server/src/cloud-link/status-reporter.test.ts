import { type Clock, silentLog } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { revisionOf } from '@platform/machine-config/robot-config';
import type { ReportPartStatusRequest } from '@platform/proto/platform/fleet/v1/part_report';
import type { Link } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import {
  countingDocument,
  createTestHome,
  patientClock,
  startTestServer,
  until,
} from '../testing/start-test-server.ts';
import { StatusReporter } from './status-reporter.ts';

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

test('a cloud without the service is called once, and the server keeps running', async () => {
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

test('a changed status of capture and sync is reported 5 s after the start, then once a minute, and again after a failed call', async () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  let [captured, isReachable] = [0, true];
  const client = {
    async reportPartStatus({ dataStatus }: ReportPartStatusRequest): Promise<object> {
      if (!isReachable) throw new Error('no cloud');
      told.push(dataStatus);
      return { forcedRevision: '' };
    },
  };
  await using reporter = new StatusReporter({
    ...{ link: { client: () => client } as unknown as Link, partId: 'part', version: '1' },
    status: () => ({ appliedRevision: 'r', heldRevision: '', heldReason: '', lastError: '' }),
    dataStatus: async () => ({ captured }),
    ...{ onForced: () => {}, clock, log: silentLog },
  });
  reporter.start();
  await clock.advance(4_000);
  captured = 1;
  await clock.advance(26_000);
  expect(told).toEqual([{ captured: 0 }, { captured: 1 }]);
  captured = 2;
  await clock.advance(20_000);
  expect(told).toHaveLength(2);
  await clock.advance(20_000);
  expect(told).toEqual([{ captured: 0 }, { captured: 1 }, { captured: 2 }]);
  await clock.advance(180_000);
  expect(told).toHaveLength(3);
  [captured, isReachable] = [3, false];
  await clock.advance(180_000);
  isReachable = true;
  await clock.advance(180_000);
  expect(told.slice(2)).toEqual([{ captured: 2 }, { captured: 3 }]);
});
