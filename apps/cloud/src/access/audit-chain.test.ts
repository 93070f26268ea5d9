import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { FirstAccount } from '../accounts/testing/open-first-account.ts';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import { defaultStore } from '../metadata/testing/test-store.ts';
import { audit } from './audit.ts';
import { checkAuditChain, extendAuditChain } from './audit-chain.ts';

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
  const names = ['audit_entries_no_update', 'audit_entries_no_delete'];
  if (defaultStore === 'postgres') await sql`drop trigger audit_entries_no_change on audit_entries`.execute(db);
  else for (const name of names) await sql`drop trigger ${sql.id(name)}`.execute(db);
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

test('the store refuses to change the chain', async () => {
  const { db } = await chained(2);
  const refusal = /conflicts with stored data|append-only|rejected a statement/;
  await expect(db.updateTable('audit_chain').set({ hash: 'x' }).execute()).rejects.toThrow(refusal);
  await expect(db.deleteFrom('audit_chain').execute()).rejects.toThrow(refusal);
});
