import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { FirstAccount } from '../accounts/testing/open-first-account.ts';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import { defaultStore } from '../metadata/testing/test-store.ts';
import { audit, entryOf } from './audit.ts';
import { checkAuditChain, extendAuditChain } from './audit-chain.ts';
import { closeEntry, openEntry } from './counted-entries.ts';

const by = { kind: 'admin', name: 'root' } as const;

/** An installation with audit entries in its chain; returns the ids of the new ones. */
async function chained(count: number): Promise<{ db: FirstAccount['db']; ids: readonly number[] }> {
  const { db } = await openFirstAccount();
  for (let nth = 0; nth < count; nth++)
    await audit(db, by, Date.UTC(2027, 0, 1) + nth, 'PriceService.SetPriceList', ['organization', `o${nth}`, null], {
      version: nth,
    });
  while (await extendAuditChain(db));
  const rows = await db
    .selectFrom('audit_entries')
    .select('id')
    .where('action', '=', 'PriceService.SetPriceList')
    .orderBy('id')
    .execute();
  return { db, ids: rows.map(({ id }) => id) };
}

/** As someone with access to the database could do it. */
async function withoutGuard(db: FirstAccount['db'], change: () => Promise<unknown>): Promise<void> {
  for (const name of ['audit_entries_no_update', 'audit_entries_no_delete'])
    await (defaultStore === 'postgres'
      ? sql`drop trigger ${sql.id(name)} on audit_entries`
      : sql`drop trigger ${sql.id(name)}`
    ).execute(db);
  await change();
}

test('each entry is chained once, in the order of ids, in any number of steps', async () => {
  const { db } = await chained(1_203);
  const first = await checkAuditChain(db);
  const { length } = await db.selectFrom('audit_entries').select('id').execute();
  expect(first).toEqual({ entries: length, hash: expect.stringMatching(/^[0-9a-f]{64}$/), problems: [] });
  expect(await extendAuditChain(db)).toBe(false);
  expect(await checkAuditChain(db)).toEqual(first);
  await audit(db, by, 1, 'X', ['organization', 'o', null]);
  await extendAuditChain(db);
  expect(await checkAuditChain(db)).toMatchObject({ entries: length + 1, problems: [] });
});

test('an entry that was changed is found and named, and no other one', async () => {
  const { db, ids } = await chained(20);
  await withoutGuard(db, () =>
    db
      .updateTable('audit_entries')
      .set({ detail: '{"version":7}' })
      .where('id', '=', ids[5] ?? 0)
      .execute(),
  );
  expect((await checkAuditChain(db)).problems).toEqual([
    `audit entry ${ids[5]} (PriceService.SetPriceList, 2027-01-01T00:00:00.005Z): it was changed`,
  ]);
});

test('an entry that was removed, and one that was inserted later, are named', async () => {
  const { db, ids } = await chained(1_500);
  const [removed = 0, moved = 0] = [ids[10], ids[11]];
  const row = await db.selectFrom('audit_entries').selectAll().where('id', '=', moved).executeTakeFirstOrThrow();
  await withoutGuard(db, () => db.deleteFrom('audit_entries').where('id', '=', removed).execute());
  await db
    .insertInto('audit_entries')
    .values({ ...row, id: -5 })
    .execute();
  await extendAuditChain(db);
  expect((await checkAuditChain(db)).problems).toEqual([
    `audit entry ${removed}: it is missing`,
    'audit entry -5 (PriceService.SetPriceList): it is not in the chain',
  ]);
});

test('of an entry that is still counted only the detail can change, and it joins the chain when it is final', async () => {
  const { db } = await chained(5);
  const caller = { principal: { kind: 'part', partId: 'p' } as const, peerAddress: '' };
  const id = await openEntry(db, caller, 1, 'X', ['part', 'p', null], { count: 1 });
  for (const change of [{ action: 'Y' }, { at_ms: 2 }, { actor_id: 'q' }, { detail: '{}', target_id: 'q' }])
    await expect(db.updateTable('audit_entries').set(change).where('id', '=', id).execute()).rejects.toThrow();
  await expect(db.deleteFrom('audit_entries').where('id', '=', id).execute()).rejects.toThrow();
  // However many entries follow.
  const after = entryOf(by, 1, 'Z', ['organization', 'o', null], {});
  for (let nth = 0; nth < 11; nth++) await db.insertInto('audit_entries').values(Array(100).fill(after)).execute();
  while (await extendAuditChain(db));
  const before = await checkAuditChain(db);
  expect(before.problems).toEqual([]);
  await closeEntry(db, id, { count: 2 });
  await expect(closeEntry(db, id, { count: 3 })).rejects.toThrow();
  while (await extendAuditChain(db));
  expect(await checkAuditChain(db)).toMatchObject({ entries: before.entries + 1, problems: [] });
  await expect(closeEntry(db, id, { count: 3 })).rejects.toThrow();
  // An entry that poses as an open one, in the past.
  const hidden = { ...entryOf(by, 1, 'W', ['organization', 'o', null], {}), id: -5, stage: 1 };
  await db.insertInto('audit_entries').values(hidden).execute();
  await audit(db, by, 4_000_000, 'Z', ['organization', 'o', null]);
  expect((await checkAuditChain(db)).problems).toEqual(['audit entry -5 (W): it is not in the chain']);
});

test('the store refuses to change the chain', async () => {
  const { db } = await chained(2);
  const refusal = /conflicts with stored data|append-only|rejected a statement/;
  await expect(db.updateTable('audit_chain').set({ hash: 'x' }).execute()).rejects.toThrow(refusal);
  await expect(db.deleteFrom('audit_chain').execute()).rejects.toThrow(refusal);
});
