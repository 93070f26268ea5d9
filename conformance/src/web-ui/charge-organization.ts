/** A charge: reviewed, made once however often it is clicked, awaited across a reload, and requested again if its outcome is unknown. */
import { expect } from 'vitest';
import { accessibilityFaults, type RunningUi } from './start-ui.ts';

const operation = '**/platform.app.v1.BillingService/CreateInvoiceAndChargeImmediately';

/** Starts on the Billing page of an organization that pays in euros by card. */
export async function chargeOrganization(ui: RunningUi): Promise<void> {
  await chargeAcrossReload(ui);
  await askAgain(ui);
}

async function chargeAcrossReload({ page }: RunningUi): Promise<void> {
  const keys: (string | undefined)[] = [];
  const charged = Promise.withResolvers<void>();
  // The cloud charges, and its first answer is lost.
  await page.route(operation, async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
    await route.fetch();
    return charged.resolve();
  });
  await page.getByRole('button', { name: 'Charge organization' }).click();
  const dialog = page.getByRole('dialog', { name: 'Charge this organization' });
  await dialog.getByLabel('Amount in EUR').fill('12.50');
  await dialog.getByLabel('Description').fill('Set-up');
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Review charge' }).click();
  await dialog.getByText('€12.50').waitFor();
  await dialog.getByText(/ending in \d{4}/).waitFor();
  await dialog.getByRole('button', { name: 'Charge now' }).dblclick();
  await dialog
    .getByRole('timer')
    .getByText(/^[012]:\d\d$/)
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('timer').waitFor();
  expect(await page.getByRole('button', { name: 'Charge organization' }).isDisabled()).toBe(true);
  await charged.promise;
  await page.reload();
  await page.getByText('€12.50 is paid.').waitFor();
  await page.getByRole('row', { name: /paid .*€12\.50/ }).waitFor();
  expect(await page.getByRole('row', { name: /€12\.50/ }).count()).toBe(1);
  expect(keys).toEqual([keys[0], keys[0]]);
  expect(keys[0]).toMatch(/^[\da-f]{32}$/);
  await page.unroute(operation);
}

async function askAgain({ page }: RunningUi): Promise<void> {
  const message = 'expected the payment to be confirmed within 2 minutes, found it still pending';
  await page.route(operation, (route) => route.fulfill({ status: 504, json: { code: 'deadline_exceeded', message } }));
  await page.getByRole('button', { name: 'Charge organization' }).click();
  const dialog = page.getByRole('dialog', { name: 'Charge this organization' });
  await dialog.getByLabel('Amount in EUR').fill('3');
  await dialog.getByRole('button', { name: 'Review charge' }).click();
  await dialog.getByRole('button', { name: 'Charge now' }).click();
  await dialog.getByRole('alert').getByText('Not confirmed within two minutes').waitFor();
  await dialog.getByRole('alert').getByText(message).waitFor();
  // A changed charge would be a second one.
  expect(await dialog.getByRole('button', { name: 'Change' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await dialog.waitFor({ state: 'detached' });
  await page.unroute(operation);
  await page.getByRole('button', { name: 'Ask again about €3.00' }).click();
  await page.getByText('€3.00 is paid.').waitFor();
  await page.getByRole('row', { name: /paid .*€3\.00/ }).waitFor();
}
