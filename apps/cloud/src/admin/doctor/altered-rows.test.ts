import { silentLog, systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { createFirstAccount } from '../../identity/create-first-account.ts';
import { openIngestLog } from '../../ingest/log/open-ingest-log.ts';
import { alterRows } from '../../metadata/testing/test-row-watch.ts';
import { openTestStore, storeKinds } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { openStores } from '../../open-stores.ts';
import { insertFile } from '../../retention/testing/insert-file.ts';
import { doctor } from './doctor.ts';

const fatal = (caught: unknown): never => {
  throw caught;
};

const check = 'the rows of accounts, money and what is served are as they were written';

test.each(storeKinds)('D33 doctor --deep names rows that were altered, added or deleted in %s', async (kind) => {
  await using store = await openTestStore(kind);
  const { directory, database } = store;
  const dataDirectory = directory.file('.');
  const settings = { instanceKey: undefined, nextInstanceKey: undefined, keepBeforeUpgrade: true };
  {
    await using stores = await openStores(
      { dataDirectory: directory.file('data'), databaseUrl: database, ...settings },
      { clock: systemClock, log: silentLog, onFatal: fatal },
    );
    await using _log = await openIngestLog({
      ...{ onFatal: throwUncaught, log: silentLog, clock: systemClock, database },
      file: directory.file('data/ingest.sqlite'),
    });
    await createFirstAccount(stores.db, stores.instanceKey, 1);
    for (const id of ['deleted', 'altered', 'kept']) await insertFile(stores.db, { id });
    stores.data.complete();
  }
  const rows = async () => {
    const findings = await doctor({
      ...{ dataDirectory: `${dataDirectory}/data`, database, deep: true, progress: () => {} },
      ...{ checkSecrets: async () => '', freeBytes: async () => 2 ** 40 },
    });
    return findings.find((finding) => finding.check === check);
  };
  expect(await rows()).toMatchObject({ ok: true, found: expect.stringMatching(/^\d+ rows$/) });
  const metadata = { ...store, directory: { ...directory, file: (name: string) => directory.file(`data/${name}`) } };
  await alterRows(metadata, "delete from binary_data where id = 'deleted'");
  await alterRows(metadata, "update binary_data set organization_id = 'umbrella' where id = 'altered'");
  const found = await rows();
  expect(found).toMatchObject({ ok: false });
  expect(found?.found).toContain('picture or file altered: its row in binary_data was altered or added');
  expect(found?.found).toMatch(/binary_data of umbrella on 1970-01-01: expected 0 rows, found 1/);
  expect(found?.found).toMatch(/binary_data of \S+ on 1970-01-01: expected 3 rows, found 1/);
});
