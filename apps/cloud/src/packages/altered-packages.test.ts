import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import { packagesOf } from './find-packages.ts';
import { modulesOf } from './modules/stored-modules.ts';

test.each([
  ['deleted', "delete from packages where id = 'p2'", /packages of \S+: expected 2 rows, found 1/],
  ['moved', "update packages set organization_id = 'other' where id = 'p2'", /packages of \S+: expected 2 rows/],
  ['altered', "update packages set blob_path = 'x' where id = 'p2'", /package p2: its row in packages was altered/],
  ['emptied of its checksum', "update packages set row_check = null where id = 'p2'", /package p2/],
])('D33 lists of packages refuse when a row was %s', async (_kind, statement, message) => {
  const { db, alterRows, organizationId } = await openFirstAccount();
  const own = await db
    .selectFrom('organizations')
    .selectAll()
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const { id: _id, ...others } = own;
  await db
    .insertInto('organizations')
    .values({ ...others, id: 'other', public_namespace: 'other', cid: null } as never)
    .execute();
  for (const [id, version] of [
    ['p1', '1.0.0'],
    ['p2', '1.1.0'],
  ] as const)
    await db
      .insertInto('packages')
      .values({
        ...{ id, organization_id: organizationId, name: 'tool', version, platform: '', type: PackageType.MODULE },
        ...{ created_ms: 1, size_bytes: 1, sha256: 'a', crc32c: 1, blob_path: id, files: '[]', metadata: '{}' },
      })
      .execute();
  expect(await packagesOf(db, organizationId)).toHaveLength(2);
  await alterRows(statement);
  const refused = { code: 'data_loss', message: expect.stringMatching(message) };
  await expect(packagesOf(db, organizationId)).rejects.toMatchObject(refused);
  await expect(packagesOf(db, organizationId, { name: 'tool' })).rejects.toMatchObject(refused);
  await expect(modulesOf(db, organizationId)).rejects.toMatchObject(refused);
});

test('D33 a module whose row was deleted is DATA_LOSS for the list of modules', async () => {
  const { db, alterRows, organizationId } = await openFirstAccount();
  await db
    .insertInto('modules')
    .values({ organization_id: organizationId, name: 'arm', created_ms: 1, details: '{}' })
    .execute();
  expect(await modulesOf(db, organizationId)).toHaveLength(1);
  await alterRows('delete from modules');
  await expect(modulesOf(db, organizationId)).rejects.toMatchObject({
    code: 'data_loss',
    message: expect.stringContaining('expected 1 rows, found 0'),
  });
});
