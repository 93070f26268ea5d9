import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { errorText, finishAll, silentLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import fc from 'fast-check';
import { type Generated, sql, type Transaction } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Metadata, openMetadata } from './open-metadata.ts';
import type { Migration } from './sqlite/writer-protocol.ts';
import { openTestStore, storeKinds, type TestStore } from './testing/test-store.ts';
import { throwUncaught } from './testing/throw-uncaught.ts';

interface Tables {
  account: { id: Generated<number>; name: string; balance: number };
  movement: { id: Generated<number>; account: number; bytes: Uint8Array | null };
}

const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: ['create table account (id integer primary key, name text not null unique, balance bigint not null)'],
  },
  {
    version: 2,
    statements: [
      'create table movement (id integer primary key, account integer not null references account (id), bytes blob)',
    ],
  },
];

function open({ directory, database }: TestStore, known = migrations): Promise<Metadata<Tables>> {
  return openMetadata<Tables>({
    clock: systemClock,
    onFatal: throwUncaught,
    file: directory.file('meta.sqlite'),
    database,
    migrations: known,
    log: silentLog,
  });
}

/** The result as another connection sees it. */
async function numberSeen({ kind, directory, administer }: TestStore, query: string): Promise<number> {
  if (kind === 'postgres') return Number((await administer(`set search_path = meta; ${query}`)).at(0)?.['n']);
  using db = new DatabaseSync(directory.file('meta.sqlite'), { readOnly: true });
  return Number(db.prepare(query).get()?.['n']);
}

describe.each(storeKinds)('metadata in %s', (kind) => {
  test('I2 a write is on the disk when it is acknowledged, even if others in its group fail', async () => {
    await using store = await openTestStore(kind);
    await using metadata = await open(store);
    const { db } = metadata;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) =>
        db
          .insertInto('account')
          .values({ name: `name ${index % 150}`, balance: index })
          .execute(),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(150);
    // Another handle sees only what is committed.
    expect(await numberSeen(store, 'select count(*) as n from account')).toBe(150);
    expect(await db.selectFrom('account').select(db.fn.countAll().as('n')).executeTakeFirst()).toEqual({ n: 150 });
  });

  test('transactions in one group keep their own rollbacks, constraints and order', async () => {
    await using store = await openTestStore(kind);
    await using metadata = await open(store);
    const { db } = metadata;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('commit', 'throw', 'conflict', 'single'), { maxLength: 12 }),
        async (kinds) => {
          await db.deleteFrom('account').execute();
          const model: number[] = [];
          const work = kinds.map(async (kind, index) => {
            const insert = (name: string): { name: string; balance: number } => ({ name, balance: index });
            if (kind === 'single') {
              await db
                .insertInto('account')
                .values(insert(`n${index}`))
                .execute();
              return;
            }
            await db.transaction().execute(async (trx) => {
              await trx
                .insertInto('account')
                .values(insert(`n${index}`))
                .execute();
              const seen = await trx
                .selectFrom('account')
                .select('balance')
                .where('name', '=', `n${index}`)
                .executeTakeFirstOrThrow();
              expect(seen.balance).toBe(index);
              if (kind === 'conflict')
                await trx
                  .insertInto('account')
                  .values(insert(`n${index}`))
                  .execute();
              if (kind === 'throw') throw new Error('changed my mind');
            });
          });
          const outcomes = await Promise.allSettled(work);
          outcomes.forEach(({ status }, index) => {
            expect(status).toBe(kinds[index] === 'commit' || kinds[index] === 'single' ? 'fulfilled' : 'rejected');
            if (status === 'fulfilled') model.push(index);
          });
          const rows = await db.selectFrom('account').select('balance').orderBy('balance').execute();
          expect(rows.map(({ balance }) => balance)).toEqual(model);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('a transaction reads its own writes; others see them only after its commit', async () => {
    await using store = await openTestStore(kind);
    await using metadata = await open(store);
    const { db } = metadata;
    await db.transaction().execute(async (trx) => {
      const account = { name: 'a', balance: 1 };
      expect(await trx.insertInto('account').values(account).returning('id').executeTakeFirst()).toEqual({ id: 1 });
      expect(await trx.selectFrom('account').selectAll().execute()).toHaveLength(1);
      expect(await db.selectFrom('account').selectAll().execute()).toHaveLength(0);
    });
    expect(await db.selectFrom('account').selectAll().execute()).toHaveLength(1);
  });

  test('statements of a transaction that are sent together run in order; if one fails, none of them has an effect', async () => {
    await using store = await openTestStore(kind);
    await using metadata = await open(store);
    const { db } = metadata;
    const insert = (trx: Transaction<Tables>, name: string) =>
      trx.insertInto('account').values({ name, balance: 1 }).execute();
    const change = (trx: Transaction<Tables>, factor: number, more: number) =>
      trx
        .updateTable('account')
        .set(({ eb }) => ({ balance: eb(eb('balance', '*', factor), '+', more) }))
        .execute();
    await db
      .transaction()
      .execute((trx) => finishAll([insert(trx, 'a'), change(trx, 10, 2), change(trx, 3, 0), insert(trx, 'b')]));
    const balances = async () =>
      (await db.selectFrom('account').selectAll().orderBy('name').execute()).map((row) => row.balance);
    expect(await balances()).toEqual([36, 1]);
    const failing = db
      .transaction()
      .execute((trx) => finishAll([change(trx, 2, 0), insert(trx, 'a'), insert(trx, 'c'), change(trx, 2, 0)]));
    await expect(failing).rejects.toMatchObject({ code: 'already_exists' });
    expect(await balances()).toEqual([36, 1]);
    await db.transaction().execute((trx) => finishAll([insert(trx, 'c'), change(trx, 2, 0)]));
    expect(await balances()).toEqual([72, 2, 2]);
  });

  test('returning, changed rows, booleans, bytes and raw SQL work as in any Kysely dialect', async () => {
    await using store = await openTestStore(kind);
    await using metadata = await open(store);
    const { db } = metadata;
    const made = await db
      .insertInto('account')
      .values({ name: 'a', balance: 2 ** 51 })
      .returningAll()
      .executeTakeFirstOrThrow();
    expect(made).toEqual({ id: 1, name: 'a', balance: 2 ** 51 });
    const bytes = new Uint8Array([1, 2, 3]);
    await db.insertInto('movement').values({ account: 1, bytes }).execute();
    expect((await db.selectFrom('movement').select('bytes').executeTakeFirstOrThrow()).bytes).toEqual(bytes);
    const updated = await db.updateTable('account').set({ balance: 5 }).where('id', '=', 1).executeTakeFirstOrThrow();
    expect(updated.numUpdatedRows).toBe(1n);
    const { rows } = await sql<{ yes: number }>`select balance as yes from account where ${true} = id`.execute(db);
    expect(rows).toEqual([{ yes: 5 }]);
    await expect(db.insertInto('movement').values({ account: 99, bytes: null }).execute()).rejects.toMatchObject({
      code: 'already_exists',
      message: expect.not.stringMatching(/foreign key|movement/i),
      cause: expect.toSatisfy((cause: unknown) => /foreign key/i.test(errorText(cause))),
    });
  });

  test('a file is upgraded to the newest version once, and keeps its rows', async () => {
    await using store = await openTestStore(kind);
    {
      await using first = await open(store, migrations.slice(0, 1));
      await first.db.insertInto('account').values({ name: 'a', balance: 1 }).execute();
    }
    for (let start = 0; start < 2; start++) {
      await using later = await open(store);
      await later.db.insertInto('movement').values({ account: 1, bytes: null }).execute();
      expect(await later.db.selectFrom('account').select('name').execute()).toEqual([{ name: 'a' }]);
    }
  });

  test('a failing migration and a newer store leave everything unchanged', async () => {
    await using store = await openTestStore(kind);
    {
      await using _ = await open(store, migrations.slice(0, 1));
    }
    const broken = { version: 2, statements: ['create table extra (id integer)', 'create nonsense'] };
    await expect(open(store, [...migrations.slice(0, 1), broken])).rejects.toSatisfy((caught: unknown) =>
      /syntax error/.test(errorText(caught)),
    );
    const tables = kind === 'sqlite' ? 'sqlite_master' : 'pg_tables';
    const named = kind === 'sqlite' ? 'name' : 'tablename';
    expect(await numberSeen(store, `select count(*) as n from ${tables} where ${named} = 'extra'`)).toBe(0);
    {
      await using _ = await open(store);
    }
    await expect(open(store, migrations.slice(0, 1))).rejects.toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining('has version 2, but this version supports only versions up to 1'),
    });
  });

  test('closing leaves no call pending: each was either written to the file or refused', async () => {
    await using store = await openTestStore(kind);
    const metadata = await open(store);
    await metadata.db.insertInto('account').values({ name: 'first', balance: 0 }).execute();
    const pending = Array.from({ length: 30 }, (_, index) =>
      metadata.db
        .insertInto('account')
        .values({ name: `n${index}`, balance: index })
        .execute(),
    );
    const unfinished = metadata.db.transaction().execute(async (trx) => {
      await trx.insertInto('account').values({ name: 'never', balance: 0 }).execute();
      await metadata[Symbol.asyncDispose]();
    });
    const outcomes = await Promise.allSettled([...pending, unfinished]);
    expect(outcomes.at(-1)?.status).toBe('rejected');
    await expect(metadata.db.selectFrom('account').selectAll().execute()).rejects.toThrow();

    await using again = await open(store);
    const rows = await again.db.selectFrom('account').select('name').execute();
    expect(rows).toHaveLength(1 + outcomes.filter(({ status }) => status === 'fulfilled').length);
  });

  test('parameters and columns of every kind are read back alike: text sorted by bytes, integers, sums and null', async () => {
    await using store = await openTestStore(kind);
    await using metadata = await open(store);
    const { db } = metadata;
    for (const [index, name] of ['b', 'B', 'ä', 'a', '_'].entries()) {
      await db
        .insertInto('account')
        .values({ name, balance: 2 ** 40 + index })
        .execute();
    }
    const names = await db.selectFrom('account').select('name').orderBy('name').execute();
    expect(names.map(({ name }) => name)).toEqual(['B', '_', 'a', 'b', 'ä']);
    const sum = await db
      .selectFrom('account')
      .select(({ fn }) => fn.sum<number>('balance').as('n'))
      .executeTakeFirst();
    expect(sum).toEqual({ n: 5 * 2 ** 40 + 10 });
    const none = await db.updateTable('account').set({ balance: 0 }).where('name', '=', 'c').executeTakeFirst();
    expect(none.numUpdatedRows).toBe(0n);
    await db.insertInto('movement').values({ account: 1, bytes: null }).execute();
    expect(await db.selectFrom('movement').select(['bytes', 'account']).execute()).toEqual([
      { bytes: null, account: 1 },
    ]);
  });

  test('no other write comes between the reads and writes of a transaction', async () => {
    await using store = await openTestStore(kind);
    await using metadata = await open(store);
    const { db } = metadata;
    await db.insertInto('account').values({ name: 'a', balance: 0 }).execute();
    const increment = (): Promise<unknown> =>
      db.transaction().execute(async (trx) => {
        const { balance } = await trx.selectFrom('account').select('balance').executeTakeFirstOrThrow();
        await trx
          .updateTable('account')
          .set({ balance: balance + 1 })
          .execute();
      });
    const single = (): Promise<unknown> =>
      db
        .updateTable('account')
        .set((row) => ({ balance: row('balance', '+', 100) }))
        .execute();
    await Promise.all([1, 2, 3, 4, 5].flatMap(() => [increment(), single()]));
    expect(await db.selectFrom('account').select('balance').execute()).toEqual([{ balance: 505 }]);
  });
});

test('a file that is not a database is refused', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('meta.sqlite');
  await writeFile(file, 'y'.repeat(4_096));
  await expect(
    openMetadata({ clock: systemClock, onFatal: throwUncaught, file, migrations, log: silentLog }),
  ).rejects.toMatchObject({
    code: 'failed_precondition',
  });
});
