import { hourMs, silentLog } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { FakeClock } from '@platform/testkit';
import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import { hourOf } from '../month.ts';
import { startMs } from '../testing/open-billing.ts';
import { createLiveUsage } from './live-usage.ts';

const { TABULAR_DATA_EGRESS, BINARY_DATA_EGRESS } = UsageCostType;

async function open() {
  const { db } = await openFirstAccount();
  const clock = new FakeClock(startMs);
  let fails = false;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (fails) throw new Error('the disk is full');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const usage = createLiveUsage({ db: db.withPlugin(plugin), clock, log: silentLog });
  return {
    ...{ clock, usage },
    fail(now: boolean): void {
      fails = now;
    },
    rows: async () =>
      (
        await db
          .selectFrom('usage_hours')
          .selectAll()
          .orderBy('organization_id')
          .orderBy('hour')
          .orderBy('type')
          .execute()
      ).map(({ organization_id, hour, type, quantity }) => [organization_id, hour, type, quantity]),
  };
}

test('added usage is written once a second, summed by organization, hour and type', async () => {
  const on = await open();
  for (let nth = 0; nth < 1_000; nth++) on.usage.add(nth % 2 === 0 ? 'a' : 'b', TABULAR_DATA_EGRESS, nth);
  on.usage.add('a', BINARY_DATA_EGRESS, 7);
  on.usage.add('a', BINARY_DATA_EGRESS, 0);
  expect(await on.rows()).toEqual([]);
  await on.clock.advance(1_000);
  const hour = hourOf(startMs);
  await expect.poll(on.rows).toEqual([
    ['a', hour, BINARY_DATA_EGRESS, 7],
    ['a', hour, TABULAR_DATA_EGRESS, 249_500],
    ['b', hour, TABULAR_DATA_EGRESS, 250_000],
  ]);
  on.clock.setWall(startMs + hourMs);
  on.usage.add('b', TABULAR_DATA_EGRESS, 5);
  await on.usage.written();
  expect((await on.rows()).at(-1)).toEqual(['b', hour + hourMs, TABULAR_DATA_EGRESS, 5]);
});

test('usage that cannot be written is written later, for the hour in which it occurred, and not twice', async () => {
  const on = await open();
  on.fail(true);
  on.usage.add('a', TABULAR_DATA_EGRESS, 3);
  await on.usage.written();
  on.clock.setWall(startMs + hourMs);
  on.usage.add('a', TABULAR_DATA_EGRESS, 4);
  on.fail(false);
  await on.usage[Symbol.asyncDispose]();
  await on.usage.written();
  const hour = hourOf(startMs);
  expect(await on.rows()).toEqual([
    ['a', hour, TABULAR_DATA_EGRESS, 3],
    ['a', hour + hourMs, TABULAR_DATA_EGRESS, 4],
  ]);
});
