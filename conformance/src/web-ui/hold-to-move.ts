/** Control: what is held moves, and stops when it is released. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { patiently } from './start-ui.ts';

/** On the page Control, with the motor `wheel`. */
export async function holdToMove(page: Page): Promise<void> {
  const wheel = page.getByRole('region', { name: 'wheel' });
  const forward = wheel.getByRole('button', { name: 'Turn wheel forward' });
  // The other one is what the slider is set to.
  const turning = wheel.getByText('50%', { exact: true }).nth(1);
  const resting = wheel.getByText('0%', { exact: true });
  await resting.waitFor();
  await pressed(page, forward);
  await turning.waitFor();
  await page.mouse.up();
  await resting.waitFor();
  await forward.focus();
  await page.keyboard.down(' ');
  await turning.waitFor();
  await page.keyboard.press('Tab');
  await resting.waitFor();
}

/** Presses until the button says that it is held: a card that appears meanwhile may have moved it. */
async function pressed(page: Page, button: Locator): Promise<void> {
  await expect
    .poll(async () => {
      await button.hover();
      await page.mouse.down();
      if ((await button.getAttribute('aria-pressed')) === 'true') return true;
      await page.mouse.up();
      return false;
    }, patiently)
    .toBe(true);
}
