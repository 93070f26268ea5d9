import { silentLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openStores, type StoreSettings } from './open-stores.ts';

const fatal = (caught: unknown): never => {
  throw caught;
};
const settingsOf = (dataDirectory: string, options: Partial<StoreSettings> = {}): StoreSettings => ({
  dataDirectory,
  instanceKey: undefined,
  nextInstanceKey: undefined,
  keepBeforeUpgrade: true,
  ...options,
});

test('D6 an instance key that does not belong to the data is refused at once, and nothing is changed', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('data');
  {
    await using stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
    expect(stores.data.isNew).toBe(true);
  }
  const other = Buffer.alloc(32, 7).toString('base64');
  await expect(
    openStores(settingsOf(path, { instanceKey: other }), { clock: systemClock, log: silentLog, onFatal: fatal }),
  ).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(/secrets in the data directory are encrypted with the instance key [0-9a-f]{16}/),
  });
  await using _stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
});
