/** Names of 10 kB, from right to left and with markup, on the pages of machines, of one machine, of triggers and of deliveries. */
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import {
  DeliveryState,
  ListDeliveriesResponseSchema,
  ListTriggersResponseSchema,
  TargetState,
  TriggerState,
} from '@platform/proto/platform/app/v1/triggers';
import { connect, type Link } from '@platform/rpc/client';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { shotPath } from '../open-browser.ts';
import { accessibilityFaults, patiently, type RunningUi } from './start-ui.ts';

const rightToLeft = 'مستشعر الحرارة';
const long = 'n'.repeat(10_000);
const names = [long, rightToLeft, `${rightToLeft} `.repeat(700), '<img src=x onerror="document.title = 1">'];
const machineNames = ['n'.repeat(200), 'مكبس الحرارة 9'];
const widths = [1_280, 390];

/** Ends at the width of a desktop, without the machines that it made. */
export async function showHostileNames({ page, cloud }: RunningUi): Promise<void> {
  const { url, keyId, key, locationId, organizationId } = cloud;
  await using link = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  const app = link.client(AppService);
  const machineIds: string[] = [];
  for (const name of machineNames) machineIds.push((await app.newRobot({ name, location: locationId })).id);
  const [machineId = ''] = machineIds;
  await uploadTo(link, machineId);
  await answerHostile(page, machineId);
  const base = `${url}/o/${organizationId}`;
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${base}/machines`);
    await page.getByRole('row', { name: /مكبس/ }).waitFor();
    await look(page, 'machines', width);
    await page.goto(`${base}/m/${machineId}`);
    await page
      .getByRole('region', { name: 'Newest readings' })
      .getByText(rightToLeft, { exact: true })
      .first()
      .waitFor();
    await page.getByRole('heading', { name: 'Alerts that do not arrive' }).waitFor();
    await look(page, 'machine', width);
    await page.goto(`${base}/triggers`);
    await page.getByText(/^4 of 4 triggers/).waitFor();
    await look(page, 'triggers', width);
    await page.goto(`${base}/deliveries`);
    await page.getByRole('button', { name: 'Details of d-3' }).waitFor();
    await look(page, 'deliveries', width);
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.setViewportSize({ width: 1_280, height: 720 });
  for (const id of machineIds) await app.deleteRobot({ id });
}

/** Neither the page nor a table in it is wider than the screen, and no row is much higher than the screen. */
async function look(page: Page, name: string, width: number): Promise<void> {
  const wide = `[document.documentElement, ...document.querySelectorAll('.table-panel')].filter((one) => one.scrollWidth > one.clientWidth && !one.querySelector('table.table-fixed')).map((one) => one.className + ' ' + one.scrollWidth)`;
  await page.screenshot({ path: shotPath(`hostile-${name}-${width}.png`) });
  await expect.poll(() => page.evaluate(wide), { ...patiently, message: `${name} at ${width}` }).toEqual([]);
  const tallest = `Math.max(0, ...[...document.querySelectorAll('.table-panel tbody tr:not([aria-hidden])')].map((one) => one.offsetHeight))`;
  await expect
    .poll(() => page.evaluate<number>(tallest), { ...patiently, message: `${name} at ${width}` })
    .toBeLessThan(1_000);
  expect(await page.title()).not.toBe('1');
  if (width === 390) expect(await accessibilityFaults(page), name).toEqual([]);
}

async function uploadTo(link: Link, machineId: string): Promise<void> {
  const { parts } = await link.client(AppService).getRobotParts({ robotId: machineId });
  const time = timestampNow();
  for (const name of ['n'.repeat(255), rightToLeft])
    await link.client(DataSyncService).dataCaptureUpload({
      metadata: {
        ...{ partId: parts[0]?.id ?? '', componentType: 'core:component:sensor', componentName: name },
        ...{ methodName: 'Readings', type: DataType.TABULAR_SENSOR },
      },
      sensorContents: [
        {
          metadata: { timeRequested: time, timeReceived: time },
          data: { case: 'struct', value: { readings: { [name]: long, [`${rightToLeft} value`]: 1 } } },
        },
      ],
    });
}

/** The cloud refuses most of these; other versions of it may not. */
async function answerHostile(page: Page, machineId: string): Promise<void> {
  const place = { machineId, partId: 'p', machineName: machineNames[0] ?? '' };
  const target = (name: string) => `http://example.com/${encodeURIComponent(name)}`;
  const triggers = create(ListTriggersResponseSchema, {
    triggers: names.map((name, at) => ({
      ...{ ...place, name, path: `triggers[${at}]`, eventType: 'part_data_ingested', state: TriggerState.REFUSED },
      notifications: [{ channel: 'webhook', target: target(name), state: TargetState.REFUSED, reason: name }],
      problems: [{ path: `triggers[${at}].${name}`, severity: 'error', message: name }],
    })),
  });
  const deliveries = create(ListDeliveriesResponseSchema, {
    deliveries: names.map((name, at) => ({
      ...{ ...place, id: `d-${at}`, triggerName: name, eventType: 'part_data_ingested', channel: 'webhook' },
      ...{ target: target(name), state: DeliveryState.FAILED, eventAt: timestampNow(), waitsBecause: name },
      attempts: [{ number: 1, outcome: 'rejected', error: name, at: timestampNow() }],
    })),
    counts: [{ state: DeliveryState.FAILED, deliveries: names.length }],
  });
  const bodies = {
    ListTriggers: toBinary(ListTriggersResponseSchema, triggers),
    ListDeliveries: toBinary(ListDeliveriesResponseSchema, deliveries),
  };
  for (const [method, body] of Object.entries(bodies))
    await page.route(`**/platform.app.v1.TriggerService/${method}`, (route) =>
      route.fulfill({ contentType: 'application/proto', body: Buffer.from(body) }),
    );
}
