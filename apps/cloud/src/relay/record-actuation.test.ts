import { silentLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { auditEntries } from '../access/audit-entries.ts';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import { createActuationRecord } from './record-actuation.ts';

const person = { kind: 'person' as const, personId: 'p', sessionId: 's', email: 'ada@example.com', grants: [] };
const actuation = {
  caller: { principal: person, peerAddress: '10.0.0.1:1' },
  ...{ organizationId: 'acme', partId: 'press-main', operation: 'MotorService.SetPower', resource: 'left' },
};

test('R21 the first call is written before it is sent; repeats are counted and written after a minute or at the end', async () => {
  const { db } = await openFirstAccount();
  const clock = new FakeClock();
  const record = createActuationRecord({ db, clock, log: silentLog });
  const written = async (): Promise<string[]> =>
    (await auditEntries(db, { organizationId: 'acme', limit: 100 }))
      .map(({ actor_name, action, detail }) => `${actor_name} ${action} ${detail}`)
      .toReversed();
  await record.record(actuation);
  expect(await written()).toEqual(['ada@example.com MotorService.SetPower {"resource":"left"}']);
  for (let more = 0; more < 20; more++) await record.record(actuation);
  expect(await written()).toHaveLength(1);
  await record.record({ ...actuation, resource: 'right' });
  await record.record({ ...actuation, resource: 'right' });
  expect(await written()).toHaveLength(2);
  await record[Symbol.asyncDispose]();
  const since = new Date(clock.now()).toISOString();
  expect((await written()).slice(2).toSorted()).toEqual([
    `ada@example.com MotorService.SetPower {"resource":"left","repeated":20,"since":"${since}"}`,
    `ada@example.com MotorService.SetPower {"resource":"right","repeated":1,"since":"${since}"}`,
  ]);
});
