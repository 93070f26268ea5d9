/** Ctrl-K: actions, what the cloud finds, and a page of the machine, which is open at the end. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults } from '../start-ui.ts';

export async function findAnything(page: Page): Promise<void> {
  const anything = page.getByRole('combobox', { name: 'Find anything' });
  await page.keyboard.press('Control+k');
  await anything.fill('add machine');
  await page.keyboard.press('Enter');
  const adding = page.getByRole('dialog', { name: 'Connect a machine' });
  await adding.getByRole('button', { name: 'Create machine' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await adding.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await anything.fill('stop all');
  await page.keyboard.press('Enter');
  await page.getByText('was told to stop').waitFor();
  // What the cloud finds: dashboards, triggers, deliveries, components.
  await page.keyboard.press('Control+k');
  for (const [text, option] of [
    ['every morning', /^Every morning\s*dashboard/],
    ['uptime rises', /^uptime-rises on .* trigger$/],
    ['test-inbox', /, \w+, .* \d\d:\d\d:\d\d \S+, to http.*test-inbox.*delivery$/],
  ] as const) {
    await anything.fill(text);
    await page.getByRole('option', { name: option }).first().waitFor();
  }
  await anything.fill('host readings');
  await page.getByRole('option', { name: /^host Readings of .* component$/ }).click();
  await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await anything.fill('configure');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Enter');
}
