/** Control: a motor turns while its button is held, and stops when it is released. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { patiently } from './start-ui.ts';

/** Starts on the Control page, with the motor `wheel`. */
export async function holdToMove(page: Page): Promise<void> {
  const wheel = page.getByRole('region', { name: 'wheel' });
  const forward = wheel.getByRole('button', { name: 'Turn wheel forward' });
  // The other match is the value of the slider.
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

/** Presses until the button says that it is held: a card that has appeared in the meantime may have moved it. */
export async function pressed(page: Page, button: Locator): Promise<void> {
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
