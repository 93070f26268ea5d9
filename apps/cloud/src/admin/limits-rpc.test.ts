import { ListLimitsRequestSchema } from '@platform/proto/platform/fleet/v1/fleet';
import { expect, test } from 'vitest';
import { ask, on, openFleet } from '../access/testing/open-fleet.ts';
import { openLimits } from './limits.ts';
import { limitHandlers } from './limits-rpc.ts';

test('operators of an organization read its limits with their usage; others learn nothing', async () => {
  const fleet = await openFleet();
  const limits = await openLimits(fleet.db);
  const { listLimits } = limitHandlers({ db: fleet.db, access: fleet.access, limits, now: () => fleet.clock.now() });
  const list = async (organizationId: string) => {
    const caller = await fleet.principalOf((await fleet.keyWith(on.organization('operator'))).token);
    return ask(listLimits, ListLimitsRequestSchema, { organizationId }, caller);
  };
  const answer = await list('acme');
  expect(answer.limits?.find(({ name }) => name === 'query-bytes-per-month')).toMatchObject({
    ...{ value: 100_000_000_000_000n, unit: 'logical bytes', used: 0n },
  });
  expect(answer.limits?.find(({ name }) => name === 'fragments')?.used).toBeUndefined();
  await expect(list('umbrella')).rejects.toThrow(/no organization|not_found|umbrella/);
});
