/** The configuration by cards: a wrong value, capture of a new sensor, and a save by someone else in the meantime. */
import { expect } from 'vitest';
import { Peer } from '../clients/grpc-peer.ts';
import { accessibilityFaults, type RunningUi } from './start-ui.ts';

const motor = { name: 'wheel', api: 'rdk:component:motor', model: 'rdk:builtin:fake' };
const probe = { name: 'probe', api: 'rdk:component:sensor', model: 'rdk:builtin:fake' };

/** Starts on the Configure page, with `probe` and `wheel` saved. */
export async function configureByCards({ page, cloud }: RunningUi): Promise<void> {
  const json = page.getByRole('textbox', { name: 'Configuration in JSON' });
  const wheel = page.getByRole('article', { name: 'wheel' });
  await wheel.getByRole('button', { name: /^wheel/ }).click();
  await wheel.getByLabel('max_rpm').fill('fast');
  await wheel.getByText('expected a number of at least 0.001, found "fast"').waitFor();
  await wheel.getByLabel('max_rpm').fill('60');
  await json.getByText('"max_rpm"').waitFor();

  await page.getByRole('button', { name: 'Add …' }).click();
  const what = page.getByRole('combobox', { name: 'What to add' });
  await what.fill('job');
  await page.getByText('Nothing matches.').waitFor();
  await what.fill('fake sensor');
  await page.getByRole('option', { name: /^sensor\s*fake/, selected: true }).waitFor();
  expect((await accessibilityFaults(page)).join('\n')).toBe('');
  await what.press('Enter');
  const added = page.getByRole('article', { name: 'sensor' });
  await added.getByRole('button', { name: 'Capture a method' }).click();
  await json.getByText('"capture_frequency_hz"').waitFor();
  await page.getByText('The data manager was added').waitFor();
  expect((await accessibilityFaults(page)).join('\n')).toBe('');
  // The draft survives a reload.
  await page.reload();
  await page.getByText('This is your earlier draft').waitFor();

  using peer = await new Peer(cloud.target).signIn(cloud.keyId, 'api-key', cloud.key);
  const theirs = { components: [{ ...probe, notes: 'by the window' }, motor] };
  await peer.call('platform.app.v1.AppService', 'UpdateRobotPart', {
    id: cloud.partId,
    robot_config_json: JSON.stringify(theirs),
  });
  await page.getByRole('button', { name: 'Merge it into my draft' }).click();
  await page.getByText('Merged from theirs: components probe (sensor).').waitFor();
  expect((await accessibilityFaults(page)).join('\n')).toBe('');
  // From a card, too.
  await page.getByRole('button', { name: /^wheel/ }).press('Control+s');
  const review = page.getByRole('region', { name: 'What saving does' });
  await review.getByText('1 restart').waitFor();
  await review.getByText('The data manager is added').waitFor();
  expect((await accessibilityFaults(page)).join('\n')).toBe('');
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByText('Saved as version 5.').waitFor();
  await page.getByRole('status', { name: 'Configuration' }).getByText('Version 5', { exact: true }).waitFor();
  await page.getByRole('status', { name: 'Configuration' }).getByText('applied ✓').waitFor();
}
