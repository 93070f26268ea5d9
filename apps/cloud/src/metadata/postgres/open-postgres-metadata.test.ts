import { silentLog, systemClock } from '@platform/base';
import { startPostgres } from '@platform/testkit';
import { sql } from 'kysely';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startCuttingProxy } from '../testing/cutting-proxy.ts';
import { openTestStore } from '../testing/test-store.ts';
import { lockDatabase } from './lock-database.ts';
import { openPostgresMetadata } from './open-postgres-metadata.ts';
import { readPostgresAddress } from './postgres-address.ts';
import { portable } from './postgres-migrate.ts';
import { createPostgresReader } from './postgres-reader.ts';

interface Tables {
  item: { id: number };
}

const migrations = [{ version: 1, statements: ['create table item (id bigint not null)'] }];

/** A database behind a proxy that cuts connections on request. */
async function rig() {
  const store = await openTestStore('postgres');
  onTestFinished(() => store[Symbol.asyncDispose]());
  const proxy = await startCuttingProxy(String(store.database));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const fatal: Error[] = [];
  const metadata = await openPostgresMetadata<Tables>({
    database: proxy.url,
    migrations,
    log: silentLog,
    clock: systemClock,
    onFatal: (error) => void fatal.push(error),
  });
  onTestFinished(() => metadata[Symbol.asyncDispose]());
  const ids = async (): Promise<unknown[]> =>
    (await store.administer('select id::int from meta.item order by id')).map(({ id }) => id);
  return { store, proxy, fatal, db: metadata.db, ids };
}

test('I2 a commit whose answer was lost is answered by its actual outcome, in a transaction and alone', async () => {
  const { proxy, db, ids, fatal } = await rig();
  proxy.cutNextCommit('after');
  await db.transaction().execute((trx) => trx.insertInto('item').values({ id: 1 }).execute());
  proxy.cutNextCommit('after');
  await db.insertInto('item').values({ id: 2 }).execute();
  proxy.cutNextCommit('before');
  const lost = db.transaction().execute((trx) => trx.insertInto('item').values({ id: 3 }).execute());
  await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
  proxy.cutNextCommit('before');
  await expect(db.insertInto('item').values({ id: 4 }).execute()).rejects.toMatchObject({ code: 'unavailable' });
  await db.insertInto('item').values({ id: 5 }).execute();
  expect(await ids()).toEqual([1, 2, 5]);
  expect(fatal).toEqual([]);
});

test('I2 a commit lost in a server crash is not mistaken for another transaction to which the server gave the same number', async () => {
  await using server = await startPostgres({ durable: true });
  const database = server.url('postgres');
  await using proxy = await startCuttingProxy(database);
  const ask = async (statement: string): Promise<unknown> => {
    const client = new Client({ connectionString: database });
    await client.connect();
    const { rows } = await client.query(statement);
    await client.end();
    return rows[0]?.answer;
  };
  // Keeps uncommitted writes from reaching the disk by chance.
  await ask(`alter system set wal_writer_delay = '10s'`);
  await ask('select pg_reload_conf()');
  await using metadata = await openPostgresMetadata<Tables>({
    database: proxy.url,
    migrations,
    log: silentLog,
    clock: systemClock,
    onFatal: (error) => expect.fail(error.message),
  });
  await metadata.db.insertInto('item').values({ id: 1 }).execute();
  const number = 'select pg_current_xact_id()::text as answer';
  const lost = metadata.db.transaction().execute(async (trx) => {
    await trx.insertInto('item').values({ id: 2 }).execute();
    const { rows } = await sql.raw<{ answer: string }>(number).execute(trx);
    proxy.setOpen(false);
    await server.kill();
    await server.start();
    expect(await ask(number)).toBe(rows[0]?.answer);
    proxy.setOpen(true);
  });
  await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
  expect(await metadata.db.selectFrom('item').selectAll().execute()).toEqual([{ id: 1 }]);
});

test('while the server is away every call is UNAVAILABLE; afterwards calls work again without a restart', async () => {
  const { proxy, db, ids, fatal } = await rig();
  await db.insertInto('item').values({ id: 1 }).execute();
  const inTheMiddle = db.transaction().execute(async (trx) => {
    await trx.insertInto('item').values({ id: 2 }).execute();
    proxy.setOpen(false);
    await trx.insertInto('item').values({ id: 3 }).execute();
  });
  await expect(inTheMiddle).rejects.toMatchObject({ code: 'unavailable' });
  await expect(db.insertInto('item').values({ id: 4 }).execute()).rejects.toMatchObject({ code: 'unavailable' });
  await expect(db.selectFrom('item').selectAll().execute()).rejects.toMatchObject({ code: 'unavailable' });
  proxy.setOpen(true);
  await db.insertInto('item').values({ id: 5 }).execute();
  expect(await db.selectFrom('item').selectAll().orderBy('id').execute()).toEqual([{ id: 1 }, { id: 5 }]);
  expect(await ids()).toEqual([1, 5]);
  expect(fatal).toEqual([]);
});

test('a read whose connection is lost while it runs is UNAVAILABLE, and does not end the process', async () => {
  const { store, proxy } = await rig();
  await using reader = createPostgresReader(readPostgresAddress(proxy.url), 'meta', silentLog);
  const lost = expect(reader.query('select pg_sleep(600)')).rejects.toMatchObject({ code: 'unavailable' });
  const running = "select 1 from pg_stat_activity where query = 'select pg_sleep(600)' and state = 'active'";
  await expect.poll(async () => (await store.administer(running)).length).toBe(1);
  proxy.setOpen(false);
  await lost;
});

test('a database held by one cloud is refused to another, and free after the first one closes', async () => {
  await using store = await openTestStore('postgres');
  const address = readPostgresAddress(String(store.database));
  let now = 0;
  // Each clock reading is past the waiting time.
  const clock = { ...systemClock, monotonic: () => (now += 60_000), sleep: async () => {} };
  const hold = (): Promise<AsyncDisposable> => lockDatabase({ address, clock, log: silentLog, onFatal: () => {} });
  const first = await hold();
  await expect(hold()).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('in use by another cloud'),
  });
  await first[Symbol.asyncDispose]();
  await using _ = await hold();
});

test('tables are defined once for both stores: types, keys and reserved words are translated', () => {
  expect(
    portable(
      'create table t (id integer primary key, authorization text, n integer not null, b blob, at bigint, primary key (n)) without rowid',
    ),
  ).toBe(
    'create table t ("id" bigint generated by default as identity primary key, "authorization" text collate "C", "n" bigint not null, "b" bytea, "at" bigint, primary key (n))',
  );
  expect(portable('alter table t add column size bigint not null default 0')).toBe(
    'alter table t add column "size" bigint not null default 0',
  );
});

test('text that Postgres cannot store gets a replacement character, and nothing else is affected', async () => {
  await using store = await openTestStore('postgres');
  interface Texts {
    texts: { text: string };
  }
  await using metadata = await openPostgresMetadata<Texts>({
    database: String(store.database),
    migrations: [{ version: 1, statements: ['create table texts (text text not null)'] }],
    log: silentLog,
    clock: systemClock,
    onFatal: () => {},
  });
  await metadata.db.insertInto('texts').values({ text: 'a\0b\u{1f600}' }).execute();
  expect(await metadata.db.selectFrom('texts').selectAll().execute()).toEqual([{ text: 'a\ufffdb\u{1f600}' }]);
});
