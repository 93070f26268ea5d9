/** The first steps of a newcomer, at the width of a phone, by role and name. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { shotPath } from '../../open-browser.ts';
import { accessibilityFaults } from '../start-ui.ts';
import { expectWithinEdges } from '../use-phone.ts';

interface Newcomer {
  /** Address of the machines of an organization that has none. */
  readonly machines: string;
  readonly cloudUrl: string;
  /** Runs the line on the machine. */
  readonly runLine: (line: string) => Promise<unknown>;
}

const nobody = 'http://127.0.0.1:9/nobody';

/** Ends at the width of a desktop. */
export async function beginOnPhone(page: Page, newcomer: Newcomer): Promise<void> {
  await page.setViewportSize({ width: 390, height: 800 });
  await makeFirstMachine(page, newcomer);
  await captureFromNothing(page);
  await mendTrigger(page);
  await page.setViewportSize({ width: 1280, height: 720 });
}

/** Pages that no other test checks with axe in this state. */
const checked = ['first-machine', 'first-reading', 'review', 'chart', 'failing-trigger-open'];

async function look(page: Page, shot: string): Promise<void> {
  await expectWithinEdges(page);
  if (checked.includes(shot)) expect(await accessibilityFaults(page), shot).toEqual([]);
  await page.screenshot({ path: shotPath(`phone-${shot}.png`), fullPage: true });
}

async function makeFirstMachine(page: Page, { machines, runLine }: Newcomer): Promise<void> {
  await page.goto(machines);
  await page.getByLabel('Name', { exact: true }).fill('press-1');
  await look(page, 'first-machine');
  await page.getByRole('button', { name: 'Create machine' }).click();
  const line = await page.getByText(/\| curl -fsS -K - \| sh$/).textContent();
  await look(page, 'first-line');
  await runLine(line ?? '');
  const progress = page.getByRole('list', { name: 'Progress' });
  await progress.getByText('✓ First reading stored').waitFor();
  await look(page, 'first-reading');
}

/** From a configuration without resources to the chart of a value. */
async function captureFromNothing(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Open press-1' }).click();
  await page.getByRole('region', { name: 'Newest readings' }).getByText('cpu_percent', { exact: true }).waitFor();
  await look(page, 'machine');
  await page.getByRole('link', { name: 'Configure' }).click();
  const host = page.getByRole('article', { name: 'host', exact: true });
  await host.getByRole('button', { name: /^host/ }).click();
  await host.getByRole('button', { name: 'Remove host' }).click();
  await page
    .getByRole('article', { name: 'data_manager' })
    .getByRole('button', { name: /^data_manager/ })
    .click();
  await page.getByRole('button', { name: 'Remove data_manager' }).click();
  await page.getByRole('button', { name: 'Add a fake sensor' }).click();
  const sensor = page.getByRole('article', { name: 'sensor', exact: true });
  await sensor.getByRole('button', { name: 'Capture a method' }).click();
  await page.getByText('The data manager was added').waitFor();
  await look(page, 'capture');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('region', { name: 'What saving does' }).getByText('1 stop').waitFor();
  await page.getByRole('textbox', { name: 'Changes' }).waitFor();
  await look(page, 'review');
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByText('Saved as version 2.').waitFor();

  await openPage(page, 'Data');
  await page.getByRole('searchbox', { name: 'Find series' }).fill('sensor Readings');
  await page.getByRole('button', { name: 'sensor Readings', exact: true }).click();
  await page
    .getByRole('img', { name: /^Line chart of / })
    .first()
    .waitFor();
  await look(page, 'chart');
}

/** The navigation says that there is one; two clicks lead to it. */
async function mendTrigger(page: Page): Promise<void> {
  await openPage(page, 'Triggers');
  await page.getByRole('link', { name: 'New trigger' }).click();
  await page.getByLabel('Name', { exact: true }).fill('data-arrives');
  await page.getByLabel('Event').selectOption('part_data_ingested');
  await page.getByLabel('Channel').selectOption('webhook');
  await page.getByLabel('Recipient').fill(nobody);
  await look(page, 'new-trigger');
  await page.getByRole('button', { name: 'Save trigger' }).click();
  await page.getByRole('row', { name: /Refused.*data-arrives/ }).waitFor();
  await look(page, 'failing-trigger');
  await openPage(page, 'Machines');

  const inTrouble = page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: /Triggers.*1 with problems/ });
  await inTrouble.click();
  await page
    .getByRole('row', { name: /Refused/ })
    .getByRole('link', { name: 'data-arrives', exact: true })
    .click();
  await page.getByText('is loopback').first().waitFor();
  await look(page, 'failing-trigger-open');
  await page.getByRole('button', { name: 'Use the test inbox' }).click();
  await page.getByRole('textbox', { name: 'Trigger in JSON' }).getByText('/test-inbox/webhooks/data-arrives').waitFor();
  await page.getByRole('button', { name: 'Save trigger' }).click();
  await page.getByRole('row', { name: /Working.*data-arrives/ }).waitFor();
  await look(page, 'mended-trigger');
  await openPage(page, 'Deliveries');
  await page
    .getByRole('row', { name: /Delivered .* data-arrives/ })
    .first()
    .waitFor();
  await look(page, 'deliveries');
}

async function openPage(page: Page, name: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name, exact: name !== 'Triggers' })
    .click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}
