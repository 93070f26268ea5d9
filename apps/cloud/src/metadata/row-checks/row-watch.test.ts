import { silentLog, systemClock } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { type Kysely, type KyselyPlugin, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openMetadata } from '../open-metadata.ts';
import type { Migration } from '../sqlite/writer-protocol.ts';
import type { Database } from '../tables.ts';
import { alterRows } from '../testing/test-row-watch.ts';
import { openTestStore, storeKinds } from '../testing/test-store.ts';
import { throwUncaught } from '../testing/throw-uncaught.ts';
import type { CheckedTable } from './checked-table.ts';
import { openRowReader } from './open-row-reader.ts';
import { rowChecksSchema } from './row-check-sql.ts';
import { createRowWatch } from './row-watch.ts';

interface Tables {
  note: { id: string; owner: string };
}

const notes: CheckedTable = { table: 'note', what: 'note', key: ['id'], columns: ['id', 'owner'], owner: 'owner' };
const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      'create table note (id text primary key, owner text not null, row_check text)',
      ...rowChecksSchema.statements,
    ],
    checked: [notes],
  },
];

function countStatements(): KyselyPlugin & { statements: number } {
  return {
    statements: 0,
    transformQuery({ node }) {
      this.statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

async function insert(db: Kysely<Tables>, owner: string, rows: number): Promise<void> {
  for (let at = 0; at < rows; at += 500)
    await db
      .insertInto('note')
      .values(Array.from({ length: Math.min(500, rows - at) }, (_, n) => ({ id: `${owner} ${at + n}`, owner })))
      .execute();
}

describe.each(storeKinds)('the watch over rows in %s', (kind) => {
  async function openWatch() {
    const store = await openTestStore(kind);
    const file = store.directory.file('meta.sqlite');
    const metadata = await openMetadata<Tables>({
      ...{ clock: systemClock, onFatal: throwUncaught, database: store.database, migrations, log: silentLog, file },
    });
    const counted = countStatements();
    const clock = new FakeClock();
    const watch = createRowWatch({
      db: metadata.db.withPlugin(counted) as unknown as Database,
      ...{ tables: [notes], kind, clock, log: silentLog },
      openReader: (signal) => openRowReader({ file, database: store.database }, undefined, signal),
    });
    return {
      ...{ db: metadata.db, store, watch, clock, counted },
      async [Symbol.asyncDispose]() {
        await watch[Symbol.asyncDispose]();
        await metadata[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
      },
    };
  }

  test('D33 a small set is compared in one statement, a large one is counted once a minute', async () => {
    await using opened = await openWatch();
    const { db, store, watch, clock, counted } = opened;
    await insert(db, 'small', 1_000);
    await insert(db, 'large', 1_001);
    const statementsOf = async (owner: string): Promise<number> => {
      counted.statements = 0;
      await watch.requireComplete(notes, [owner]);
      return counted.statements;
    };
    expect([await statementsOf('small'), await statementsOf('small')]).toEqual([1, 1]);
    expect([await statementsOf('large'), await statementsOf('large')]).toEqual([1, 0]);
    await clock.advance(60_001);
    expect(await statementsOf('large')).toBe(1);

    await alterRows(store, "delete from note where id = 'small 5'");
    await expect(watch.requireComplete(notes, ['small'])).rejects.toMatchObject({
      code: 'data_loss',
      message: expect.stringContaining('note of small: expected 1000 rows, found 999'),
    });
  });

  test('D33 a row that is missing from a large set is found by a look at all rows, and the list is refused from then on', async () => {
    await using opened = await openWatch();
    const { db, store, watch } = opened;
    await insert(db, 'large', 1_001);
    await watch.requireComplete(notes, ['large']);
    expect(await watch.look()).toEqual([]);
    await alterRows(store, "delete from note where id = 'large 5'");
    expect(await watch.look()).toEqual([expect.stringContaining('note of large: expected 1001 rows, found 1000')]);
    const lost = { code: 'data_loss', message: expect.stringContaining('expected 1001 rows, found 1000') };
    await expect(watch.requireComplete(notes, ['large'])).rejects.toMatchObject(lost);
    await expect(watch.requireIntact(notes, ['large'])).rejects.toMatchObject(lost);
    await watch.requireComplete(notes, ['another']);
  });

  test('D33 a set that was found intact is compared again 2 s later, with its values, and once it is as it was written', async () => {
    await using opened = await openWatch();
    const { db, store, watch, clock, counted } = opened;
    await insert(db, 'a', 2);
    const require = () => watch.requireIntact(notes, ['a', 'without rows']);
    await require();
    counted.statements = 0;
    await require();
    expect(counted.statements).toBe(0);
    // The checksums still add up to the proof.
    await alterRows(store, "update note set id = 'a 9' where id = 'a 1'");
    await clock.advance(2_001);
    const lost = { code: 'data_loss', message: expect.stringContaining('note a 9: its row') };
    await expect(require()).rejects.toMatchObject(lost);
    await expect(require()).rejects.toMatchObject(lost);
    await alterRows(store, "update note set id = 'a 1' where id = 'a 9'");
    await require();
  });

  test('D33 a row that was found right is compared again', async () => {
    await using opened = await openWatch();
    const { db, store, watch } = opened;
    await insert(db, 'a', 2);
    const read = async () => watch.requireRight(notes, await db.selectFrom('note').selectAll().execute());
    await read();
    await read();
    await alterRows(store, "update note set owner = 'b' where id = 'a 1'");
    await expect(read()).rejects.toMatchObject({ code: 'data_loss', message: expect.stringContaining('note a 1') });
    await alterRows(store, "update note set owner = 'a', row_check = null where id = 'a 1'");
    await expect(read()).rejects.toMatchObject({ code: 'data_loss' });
  });

  test('a statement that adds, changes and deletes many rows keeps the proofs of all their owners', async () => {
    await using opened = await openWatch();
    const { db, watch } = opened;
    const values = Array.from({ length: 90 }, (_, n) => ({ id: `n${n}`, owner: `owner ${n % 3}` }));
    await db.insertInto('note').values(values).execute();
    await db.updateTable('note').set({ owner: 'other' }).where('owner', '=', 'owner 1').execute();
    await db.deleteFrom('note').where('id', 'like', 'n1%').execute();
    expect(await watch.look()).toEqual([]);
    await db.deleteFrom('note').execute();
    expect(await watch.look()).toEqual([]);
    expect((await sql`select * from row_proofs`.execute(db)).rows).toEqual([]);
  });
});
