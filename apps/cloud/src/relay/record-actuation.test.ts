import { silentLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { checkAuditChain, extendAuditChain } from '../access/audit-chain.ts';
import { auditEntries } from '../access/audit-entries.ts';
import { closeLeftOpen } from '../access/counted-entries.ts';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import { createActuationRecord } from './record-actuation.ts';

const person = { kind: 'person' as const, personId: 'p', sessionId: 's', email: 'ada@example.com', grants: [] };
const actuation = {
  caller: { principal: person, peerAddress: '10.0.0.1:1' },
  ...{ organizationId: 'acme', partId: 'press-main', operation: 'MotorService.SetPower', resource: 'left' },
  arguments: undefined,
};

async function given() {
  const { db } = await openFirstAccount();
  const clock = new FakeClock();
  const written = async (): Promise<object[]> =>
    (await auditEntries(db, { organizationId: 'acme', limit: 100 }))
      .map(({ actor_name, action, detail }) => ({ actor_name, action, ...JSON.parse(detail) }))
      .toReversed();
  return { db, clock, written, open: () => createActuationRecord({ db, clock, log: silentLog }) };
}

const said = { actor_name: 'ada@example.com', action: 'MotorService.SetPower', resource: 'left', path: 'relay' };

test('R21 a call is in the trail before it is sent; those of the next 10 s are counted in the same record', async () => {
  const { clock, written, open } = await given();
  const record = open();
  const first = new Date(clock.now()).toISOString();
  await record.record({ ...actuation, arguments: '{"powerPct":0.1}' });
  const one = { ...said, count: 1, first, last: first, arguments: '{"powerPct":0.1}' };
  expect(await written()).toEqual([one]);
  await clock.advance(3_000);
  const last = new Date(clock.now()).toISOString();
  // Another connection of the same person, and at the same time.
  const caller = { ...actuation.caller, peerAddress: '10.0.0.1:2' };
  await Promise.all(
    Array.from({ length: 20 }, () => record.record({ ...actuation, caller, arguments: '{"powerPct":1}' })),
  );
  await record.record({ ...actuation, resource: 'right' });
  const right = { ...said, resource: 'right', count: 1, first: last, last };
  expect(await written()).toEqual([one, right]);
  await clock.advance(7_000);
  const counted = { ...one, count: 21, last, arguments: '{"powerPct":1}' };
  await expect.poll(written).toEqual([counted, right]);

  await record.record(actuation);
  await record.record(actuation);
  await record[Symbol.asyncDispose]();
  const next = new Date(clock.now()).toISOString();
  expect(await written()).toEqual([counted, right, { ...said, count: 2, first: next, last: next }]);
});

test('R21 calls that arrive together wait for the same record, and none is sent if it cannot be written', async () => {
  const { db, written, open } = await given();
  await using record = open();
  await Promise.all([record.record(actuation), record.record(actuation)]);
  expect(await written()).toHaveLength(1);
  await db.destroy();
  const right = { ...actuation, resource: 'right' };
  const outcomes = await Promise.allSettled([record.record(right), record.record(right)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('R21 after a kill, a record says what was known; the chain of hashes leaves it out while it is open', async () => {
  const { db, written, open } = await given();
  const killed = open();
  await killed.record(actuation);
  await killed.record(actuation);
  await extendAuditChain(db);
  const before = await checkAuditChain(db);
  expect(before.problems).toEqual([]);
  await closeLeftOpen(db);
  await extendAuditChain(db);
  expect(await checkAuditChain(db)).toMatchObject({ entries: before.entries + 1, problems: [] });
  expect(await written()).toMatchObject([{ ...said, count: 1 }]);
  const changed = db.updateTable('audit_entries').set({ detail: '{}' }).where('action', '=', said.action).execute();
  await expect(changed).rejects.toThrow();
});
