/** The page of a machine's logs, in a real browser: reasons, who wrote a line, dates and ranges of time. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { zapFields } from '@platform/base';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { openCommandLine } from '../cli/command-line.ts';
import { openBrowser, shotPath, signInByLink } from '../open-browser.ts';
import { startCloud } from '../start-cloud.ts';
import { accessibilityFaults, build, buildOnce } from './start-ui.ts';

const dayMs = 86_400_000;
const minute = (ms: number): string => {
  const time = new Date(ms);
  return new Date(ms - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

test('the reason of a line is never cut, lines of the cloud about triggers are told apart, and a range of time with dates is shown', async () => {
  buildOnce();
  await using cloud = await startCloud({ PLATFORM_WEB_UI: build });
  const { partId, url, keyId, key } = cloud;
  await using cli = await openCommandLine({ PLATFORM_URL: url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key });
  const credentials = { entity: partId, type: 'robot-secret', payload: cloud.partSecret };
  await using machine = connect({ baseUrl: url, credentials });
  const now = Date.now();
  const cause = `${'the controller did not answer on any of its addresses, '.repeat(12)}and its bus is gone`;
  const fields = zapFields({ error: cause, attempts: 3 }) as never;
  const line = (ms: number, message: string) => ({ host: 'press', level: 'error', time: timestampFromMs(ms), message });
  await machine.client(RobotService).log({
    id: partId,
    logs: [
      { ...line(now - 3 * dayMs, 'three days ago'), loggerName: 'sync' },
      { ...line(now - 1_000, 'cannot read the valve'), loggerName: 'modules.valve', fields },
    ],
  });
  const document = {
    triggers: [
      {
        name: 'arrived',
        event: { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } },
        notifications: [{ type: 'webhook', value: `${url}/nothing-is-here` }],
      },
    ],
  };
  await cli.ok(['config', 'set', partId, '-', '--yes'], { input: JSON.stringify(document) });
  await machine.client(DataSyncService).dataCaptureUpload({
    metadata: {
      ...{ partId, componentType: 'rdk:component:sensor', componentName: 'oven', methodName: 'Readings' },
      type: DataType.TABULAR_SENSOR,
    },
    sensorContents: [{ data: { case: 'struct', value: { readings: { temperature: 20 } } } }],
  });

  await using browser = await openBrowser();
  const { page } = browser;
  await signInByLink(page, cloud.signInLink);
  await page.goto(`${url}/o/${cloud.organizationId}/m/${cloud.machineId}/logs`);
  const lines = page.getByRole('region', { name: 'Log lines' });
  const valve = lines.getByRole('button', { name: /cannot read the valve error=.*and its bus is gone" attempts=3$/ });
  await valve.waitFor();
  const isCut = await valve.evaluate((row) =>
    [row, ...row.querySelectorAll('*:last-child')].some(
      (part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1,
    ),
  );
  expect(isCut).toBe(false);
  // The next row begins below all of it.
  const trigger = lines.getByRole('button', { name: /trigger arrived .*failed to notify .*is loopback/ });
  await trigger.waitFor();
  const [above, below] = [await valve.boundingBox(), await trigger.boundingBox()];
  expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0) - 1);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('logs-page.png') });
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('logs-page-phone.png'), fullPage: true });
  await page.setViewportSize({ width: 1280, height: 720 });

  await page.getByLabel('Written by').selectOption({ label: 'Triggers (cloud)' });
  await valve.waitFor({ state: 'detached' });
  expect(await lines.getByRole('button').count()).toBe(1);
  await page.getByLabel('Written by').selectOption({ label: 'The machine' });
  await trigger.waitFor({ state: 'detached' });
  await valve.waitFor();

  await page.getByLabel('From').fill(minute(now - 4 * dayMs));
  await page.getByLabel('Until', { exact: true }).fill(minute(now - 2 * dayMs));
  await valve.waitFor({ state: 'detached' });
  const old = lines.getByRole('button', { name: /three days ago$/ });
  await old.waitFor();
  const date = new Intl.DateTimeFormat('en-US', { year: 'numeric', month: 'short', day: 'numeric' });
  expect(await old.textContent()).toContain(`${date.format(new Date(now - 3 * dayMs))} `);
  // The address has the range.
  await page.reload();
  await old.waitFor();
  expect(await lines.getByRole('button').count()).toBe(1);
  await page.getByRole('button', { name: 'Newest lines' }).click();
  await valve.waitFor();
  expect(browser.faults).toEqual([]);
});
