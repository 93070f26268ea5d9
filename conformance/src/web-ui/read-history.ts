/** The history of a configuration and of a fragment in words: who changed what, found by text, and exported. */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { Peer } from '../clients/grpc-peer.ts';
import { shotPath } from '../open-browser.ts';
import { accessibilityFaults, type RunningUi } from './start-ui.ts';

/** Starts on the Configure page after the other journeys; ends there, with the history beside a draft that is as saved. */
export async function readHistory({ page, cloud }: RunningUi): Promise<void> {
  await page.getByRole('button', { name: 'History' }).click();
  const history = page.getByRole('region', { name: 'History' });
  await history.getByText(/^(A key|Key .*) changed version of module greeter$/).waitFor();
  const filter = history.getByLabel('Filter history');
  await filter.fill('nobody did this');
  await history.getByText('No change matches').waitFor();
  await filter.fill('2 components: probe');
  await history.getByText(/ added 2 components: probe and wheel, removed component host/).waitFor();
  expect(await history.getByRole('listitem').count()).toBe(1);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-history.png') });
  const exported = page.waitForEvent('download');
  await history.getByRole('button', { name: 'Download CSV' }).click();
  const csv = await readFile(await (await exported).path(), 'utf8');
  expect(csv).toMatch(/^version,at,who,what,restored\r\n/);
  expect(csv).toMatch(/^4,[^,]*,(A key|Key .*),changed notes of sensor probe,\r$/m);
  await filter.fill('');

  using peer = await new Peer(cloud.target).signIn(cloud.keyId, 'api-key', cloud.key);
  const config = { fields: { debug: { bool_value: true } } };
  const created = await peer.call('platform.app.v1.AppService', 'CreateFragment', {
    ...{ name: 'loud', organization_id: cloud.organizationId, config },
  });
  const { id } = created['fragment'] as { readonly id: string };
  await page.getByRole('button', { name: 'Add …' }).click();
  const what = page.getByRole('combobox', { name: 'What to add' });
  await what.fill('fragment');
  await what.press('Enter');
  await page.getByRole('article', { name: 'fragments without a name' }).getByLabel('id *', { exact: true }).fill(id);
  await page.getByRole('article', { name: id }).getByRole('button', { name: 'History of this fragment' }).click();
  const dialog = page.getByRole('dialog', { name: 'History of the fragment' });
  await dialog.getByText(/^Key .* added debug$/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Compare revision 1' }).click();
  await dialog.getByRole('textbox', { name: 'Changes' }).getByText('debug').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Discard changes' }).click();
}
