/** Data: finds a series, turns pages of a large organization, meets hostile names, and an error leaves what was shown, marked as old. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs, timestampNow } from '@bufbuild/protobuf/wkt';
import {
  ListSeriesRequestSchema,
  ListSeriesResponseSchema,
  SeriesSchema,
} from '@platform/proto/platform/series/v1/series';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { shotPath } from '../open-browser.ts';
import { accessibilityFaults, patiently } from './start-ui.ts';

const call = '**/platform.series.v1.SeriesService/ListSeries';

/** Begins and ends on the Data page with the newest values of all machines. */
export async function pageSeries(page: Page): Promise<void> {
  const table = page.getByRole('region', { name: 'Table of series' });
  const search = page.getByRole('searchbox', { name: 'Find series' });
  const pages = page.getByRole('group', { name: 'Pages' }).first();
  // The values of the host are found by a name, and have units.
  await search.fill('READINGS uptime_seconds');
  await page.getByRole('button', { name: 'host Readings', exact: true }).waitFor();
  await table
    .getByText(/^[\d.]+ %$/)
    .first()
    .waitFor();
  await table
    .getByRole('button', { name: /^Show all \d+ values/ })
    .first()
    .click();
  await table
    .getByText(/^[\d.]+ GB$/)
    .first()
    .waitFor();
  await search.fill('no such series');
  await pages.getByText(/^0 series, of \d+ in all$/).waitFor();
  await page.getByText('No series meets the conditions.').waitFor();
  await search.fill('');
  await pages.getByText(/^\d+ series$/).waitFor();

  await answerLarge(page);
  await search.fill('any');
  await pages.getByText('1 to 50 of 20,000 series').waitFor();
  await page.getByText(/^The list is of 3 min ago:/).waitFor();
  await expectWithinEdges(page);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-data-pages.png') });
  await pages.getByRole('button', { name: 'Last' }).click();
  await pages.getByText('19,951 to 20,000 of 20,000 series').waitFor();
  await page.waitForURL(/page=400/);
  await pages.getByRole('button', { name: 'Previous' }).click();
  await pages.getByText('19,901 to 19,950 of 20,000 series').waitFor();
  await pages.getByRole('button', { name: 'First' }).click();
  await pages.getByText('1 to 50 of 20,000 series').waitFor();
  await readLongName(page);
  await pages.getByText('1 to 50 of 20,000 series').waitFor();

  await page.unroute(call);
  await page.route(call, (route) => route.fulfill({ status: 504, body: '' }));
  await pages.getByRole('button', { name: 'Next' }).click();
  await page.getByText(/^Old: these series are as of /).waitFor();
  expect(await table.getByRole('row').count()).toBe(51);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-data-old.png') });
  await page.unroute(call);
  await search.fill('');
  await pages.getByText(/^\d+ series$/).waitFor();
  await expect.poll(() => page.getByText(/^Old: these series/).count(), patiently).toBe(0);
}

/** A phone shows rows with long names as cards; what is cut off can be read whole. Ends where it began. */
async function readLongName(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 800 });
  await expectWithinEdges(page);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page
    .getByRole('button', { name: /^n+… Readings$/ })
    .first()
    .click();
  await page.getByText('Whole names').click();
  await expectWithinEdges(page);
  await page.getByText(longName, { exact: true }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-data-whole-name.png') });
  await page.setViewportSize({ width: 1280, height: 720 });
  await expectWithinEdges(page);
  await page.getByRole('button', { name: 'Show all', exact: true }).click();
}

async function expectWithinEdges(page: Page): Promise<void> {
  const begins = `[...document.querySelectorAll('.table-panel :is(td, li, a)')].map((one) => one.getBoundingClientRect().left)`;
  const isWithin = `document.documentElement.scrollWidth <= window.innerWidth && Math.min(...${begins}) >= 0`;
  await expect.poll(() => page.evaluate(isWithin), patiently).toBe(true);
}

const longName = 'n'.repeat(10_000);

/** 20,000 series, with names of 10 kB, from right to left, and with markup. */
async function answerLarge(page: Page): Promise<void> {
  const names = [longName, 'مستشعر الحرارة', '<img src=x onerror="document.title = 1">'];
  const seriesAt = (at: number) => {
    const name = names[at % names.length] as string;
    return create(SeriesSchema, {
      ...{ locationId: 'l', machineId: `m-${at}`, partId: `p-${at}`, componentType: 'core:component:sensor' },
      ...{ componentName: name, methodName: 'Readings', readings: 50n, newest: timestampNow() },
      data: { readings: { [name]: 1, memory_bytes: 1e9, 'a.b': true, text: name } },
    });
  };
  await page.route(call, (route) => {
    const request = fromBinary(ListSeriesRequestSchema, route.request().postDataBuffer() ?? new Uint8Array());
    const { offset, componentName } = request;
    const total = componentName === '' ? 20_000 : 1;
    const answer = create(ListSeriesResponseSchema, {
      series: Array.from({ length: Math.min(total, 50) }, (_, at) => seriesAt(offset + at)),
      ...{ total, totalReadable: 20_000, listedAt: timestampFromMs(Date.now() - 200_000) },
    });
    const body = Buffer.from(toBinary(ListSeriesResponseSchema, answer));
    return route.fulfill({ contentType: 'application/proto', body });
  });
}
