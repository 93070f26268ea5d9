import { create } from '@bufbuild/protobuf';
import { FilterSchema, Order } from '@platform/proto/platform/app/data/v1/data';
import { expect, test } from 'vitest';
import { pageOfFiles } from '../binary/find/find-files.ts';
import { app, openMachines } from '../machines/testing/open-machines.ts';
import { createRetention, type Retention } from './feature.ts';
import { removeBinary } from './remove-binary.ts';
import { insertFile } from './testing/insert-file.ts';

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 4, 17);
const signal = new AbortController().signal;

/** One part whose data is kept for 3 days, and another one that is kept for ever. */
async function given() {
  const wired: { retention?: Retention } = {};
  const on = await openMachines({
    onConfigurationChange: async (trx, changes) => await wired.retention?.configurationsChanged(trx, changes),
  });
  const { db, organizationId, partId, owner } = on;
  const open = (): Retention => createRetention({ db, now: () => nowMs });
  wired.retention = open();
  const save = (document: object) => on.ask(owner, app.updateRobotPart, { id: partId, robotConfig: document as never });
  await save({ data_retention_policy: { days: 3 } });
  const today = nowMs / dayMs;
  for (const daysAgo of [0, 9])
    await insertFile(db, { part_id: partId, id: `f${daysAgo}`, capture_day: today - daysAgo });
  const page = {
    ...{ filter: create(FilterSchema, {}), scopes: [{ organizationId, locationIds: null, robotIds: null }] },
    ...{ after: undefined, order: Order.ASCENDING, limit: 50, nowMs },
  };
  return {
    ...on,
    save,
    /** After a restart. */
    rules: () => open().standingRulesOf(organizationId, nowMs),
    pictures: async () => (await pageOfFiles({ db, rows: on.rows }, page, signal)).map(({ id }) => id),
    expire: () => removeBinary(db, organizationId, new Map(), nowMs, signal),
  };
}

const lost = (message: RegExp) => ({ code: 'data_loss', message: expect.stringMatching(message) });

test.each([
  [
    'altered',
    'update data_policies set policies = \'{"resources":[],"recent":[]}\'',
    /data policies of part \S+: its row/,
  ],
  ['deleted', 'delete from data_policies', /expected 1 rows, found 0/],
  ['without its number of changes', 'delete from data_policy_changes', /expected 1 rows, found 0/],
  ['with another number of changes', 'update data_policy_changes set change = 0', /number of changes .* its row/],
])('D33 policies that something else left %s hide nothing and show nothing', async (_how, statement, message) => {
  const on = await given();
  expect((await on.rules()).expired).toHaveLength(1);
  await on.alterRows(statement);
  await expect(on.rules()).rejects.toMatchObject(lost(message));
});

test('D33 a save finds that the policies before it were altered', async () => {
  const on = await given();
  await on.alterRows("update data_policies set policies = '{}'");
  await expect(on.save({})).rejects.toMatchObject(lost(/data policies of part/));
});

test.each([
  [
    'altered',
    'update data_retention_days set days = 1',
    /retention of part .*its row in data_retention_days was altered/,
  ],
  ['altered', 'update data_retention_days set days = 100', /retention of part/],
  ['deleted', 'delete from data_retention_days', /expected 1 rows, found 0/],
  [
    "moved to another organization's",
    "update data_retention_days set organization_id = 'x'",
    /expected 1 rows, found 0/,
  ],
])(
  'D33 no picture is listed or deleted by a retention that something else %s: %s',
  async (_how, statement, message) => {
    const on = await given();
    expect(await on.pictures()).toEqual(['f0']);
    await on.alterRows(statement);
    await expect(on.expire()).rejects.toMatchObject(lost(message));
    expect(await on.db.selectFrom('binary_data').select('id').execute()).toHaveLength(2);
    const again = await given();
    await again.alterRows(statement);
    await expect(again.pictures()).rejects.toMatchObject(lost(message));
  },
);
