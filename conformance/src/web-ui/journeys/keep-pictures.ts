/** Deleting readings is counted and not done; a picture is tagged, put into a dataset, downloaded and deleted. */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { shotPath } from '../../open-browser.ts';
import { accessibilityFaults, patiently, type RunningUi } from '../start-ui.ts';
import { uploadPicture } from '../upload-picture.ts';

export async function keepPictures({ cloud, page }: RunningUi): Promise<void> {
  await uploadPicture(cloud);
  await page.getByRole('link', { name: 'Data' }).click();
  await page.getByRole('button', { name: 'Delete readings of host Readings' }).click();
  const deleting = page.getByRole('dialog', { name: 'Delete readings' });
  await deleting.getByLabel('Which readings, by UTC day of capture').selectOption('All up to now');
  await deleting.getByRole('button', { name: 'Count' }).click();
  await deleting.getByText(/^[1-9][\d,]* readings would be deleted/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await deleting.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Pictures and files' }).click();
  await page.getByRole('button', { name: /gate\.png/ }).click();
  const picture = page.getByRole('dialog', { name: 'gate.png' });
  await expect
    .poll(
      () => picture.getByRole('img').evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
      patiently,
    )
    .toBe(1);
  await picture.getByLabel('New tag').fill('defect');
  await picture.getByRole('button', { name: 'Add tag' }).click();
  await picture.getByRole('button', { name: 'Remove tag defect' }).waitFor();
  await picture.getByLabel('Dataset', { exact: true }).fill('First shift');
  await picture.getByRole('button', { name: 'Add to dataset' }).click();
  await picture.getByRole('button', { name: 'Remove from dataset First shift' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-picture.png') });
  const saved = page.waitForEvent('download');
  await picture.getByRole('button', { name: 'Download' }).click();
  expect((await readFile(await (await saved).path())).toString('latin1').slice(1, 4)).toBe('PNG');
  await picture.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('combobox', { name: 'Dataset' }).selectOption('First shift');
  await page.getByRole('button', { name: /gate\.png/ }).waitFor();
  await page.screenshot({ path: shotPath('web-files.png') });
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: /gate\.png/ }).click();
  await picture.getByRole('button', { name: 'Delete' }).click();
  await picture.getByRole('button', { name: 'Delete permanently' }).click();
  await page.getByText('No picture or file matches the filter.').waitFor();
}
