import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import { addUsage } from './add-usage.ts';
import { readHours, readTotals } from './read-usage.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2027, 2, 1);
const endMs = Date.UTC(2027, 3, 1);
const dayMs = 24 * hourMs;
const type = UsageCostType.PER_MACHINE;

test.each([
  [
    'altered',
    'update usage_hours set quantity = quantity + 1 where hour = HOUR',
    /usage of organization acme \d+ \d+: its row/,
  ],
  [
    'deleted',
    'delete from usage_hours where hour = HOUR',
    /usage_hours of acme on 2027-03-02: expected 24 rows, found 23/,
  ],
  [
    'moved to another organization',
    "update usage_hours set organization_id = 'other' where hour = HOUR",
    /expected 24 rows, found 23/,
  ],
  [
    'emptied of its checksum',
    'update usage_hours set row_check = null where hour = HOUR',
    /usage of organization acme/,
  ],
  [
    'added',
    "insert into usage_hours (organization_id, hour, type, quantity) values ('acme', HOUR, 99, 5)",
    /usage of organization acme/,
  ],
])('D33 what is owed is not computed from hours of usage of which one was %s', async (_kind, statement, message) => {
  const { db, rows, alterRows } = await openFirstAccount();
  const hours = Array.from({ length: 3 * 24 }, (_, hour) => ({
    ...{ organization_id: 'acme', hour: startMs + hour * hourMs, type, quantity: 2 },
  }));
  const add = () => db.transaction().execute((trx) => addUsage(trx, hours));
  await add();
  // Counted twice: the second time adds to the rows.
  await add();
  const reader = { db, counted: [] };
  expect(await readTotals(reader, startMs, endMs, 'acme')).toEqual(new Map([['PER_MACHINE', 3n * 24n * 4n]]));
  expect(await rows.look()).toEqual([]);

  await alterRows(statement.replaceAll('HOUR', String(startMs + dayMs + hourMs)));
  const refused = { code: 'data_loss', message: expect.stringMatching(message) };
  await expect(readTotals(reader, startMs, endMs, 'acme')).rejects.toMatchObject(refused);
  await expect(readHours(reader, 'acme', startMs + dayMs, startMs + 2 * dayMs)).rejects.toMatchObject(refused);
  expect(await readHours(reader, 'acme', startMs, startMs + dayMs)).toHaveLength(24);
  expect(await readHours(reader, 'acme', startMs + 2 * dayMs, endMs)).toHaveLength(24);
  expect((await rows.look()).join('; ')).toMatch(/usage/);
});
