import { silentLog, systemClock } from '@platform/base';
import { type Kysely, type KyselyPlugin, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openMetadata } from '../open-metadata.ts';
import type { Migration } from '../sqlite/writer-protocol.ts';
import { alterRows } from '../testing/test-row-watch.ts';
import { openTestStore, storeKinds, type TestStore } from '../testing/test-store.ts';
import { throwUncaught } from '../testing/throw-uncaught.ts';
import type { CheckedTable } from './checked-table.ts';
import { fillRowChecks } from './fill-row-checks.ts';
import { findRowDamage } from './find-row-damage.ts';
import { openRowReader } from './open-row-reader.ts';
import { rowChecksSchema } from './row-check-sql.ts';

interface Tables {
  sighting: { id: string; owner: string | null; seen_us: number; note: string | null; mark: Uint8Array; views: number };
}

const sightings: CheckedTable = {
  table: 'sighting',
  what: 'sighting',
  key: ['id'],
  columns: ['id', 'owner', 'seen_us', 'note'],
  bytes: ['mark'],
  owner: 'owner',
  time: 'seen_us',
};
const other: CheckedTable = { table: 'other', what: 'other', key: ['id'], columns: ['id'] };

const before: readonly Migration[] = [
  {
    version: 1,
    statements: [
      'create table other (id text primary key, row_check text)',
      'create table sighting (id text primary key, owner text, seen_us bigint not null, note text, mark blob not null, views bigint not null, row_check text)',
      ...rowChecksSchema.statements,
    ],
    checked: [other],
  },
];
const after: readonly Migration[] = [...before, { version: 2, statements: [], checked: [sightings] }];

const open = ({ directory, database }: TestStore, migrations: readonly Migration[]) =>
  openMetadata<Tables>({
    ...{ clock: systemClock, onFatal: throwUncaught, database, migrations, log: silentLog },
    file: directory.file('meta.sqlite'),
  });

async function damageOf({ directory, database }: TestStore): Promise<readonly string[]> {
  const store = { file: directory.file('meta.sqlite'), database };
  await using reader = await openRowReader(store, undefined, new AbortController().signal);
  const { damages } = await findRowDamage(reader, [sightings]);
  return damages.map(({ text }) => text);
}

const dayUs = 86_400_000_000;

async function insert(db: Kysely<Tables>, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 500)
    await db
      .insertInto('sighting')
      .values(
        Array.from({ length: Math.min(500, to - at) }, (_, index) => {
          const n = at + index;
          return {
            id: `s${String(n).padStart(5, '0')}`,
            owner: n % 3 === 0 ? null : `owner ${n % 3}`,
            // Before 1970, too.
            seen_us: (n % 5) * dayUs - 2 * dayUs - 1,
            note: n % 2 === 0 ? null : `ä "quoted" '${n}'`,
            mark: new Uint8Array([n % 256, 0, 255]),
            views: 0,
          };
        }),
      )
      .execute();
}

/** Fails the n-th statement that gives rows their checksums. */
function failAt(nth: number): KyselyPlugin {
  let updates = 0;
  return {
    transformQuery({ node }) {
      const isUpdate = node.kind === 'RawNode' && node.sqlFragments.join('').startsWith('update sighting');
      if (isUpdate && ++updates === nth) throw new Error('interrupted');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

describe.each(storeKinds)('checksums of rows in %s', (kind) => {
  test('D33 existing rows get their checksums in batches, which continue after an interruption', async () => {
    await using store = await openTestStore(kind);
    {
      await using metadata = await open(store, before);
      await insert(metadata.db, 0, 4_500);
      const failing = metadata.db.withPlugin(failAt(2));
      await expect(fillRowChecks(failing, [sightings], kind, silentLog)).rejects.toThrow('interrupted');
      const filled = await sql<{ rows: number }>`select count(row_check) as "rows" from sighting`.execute(metadata.db);
      expect(filled.rows).toEqual([{ rows: 2_000 }]);
    }
    // The next start completes it.
    await using metadata = await open(store, after);
    expect(await damageOf(store)).toEqual([]);
    await insert(metadata.db, 4_500, 4_510);
    expect(await damageOf(store)).toEqual([]);
    await alterRows(store, "delete from sighting where id = 's00001'");
    expect(await damageOf(store)).toEqual([
      expect.stringMatching(/^sighting of owner 1 on 1969-12-30: expected 30[01] rows, found (299|300)$/),
    ]);
  });

  test('D33 every statement of the cloud keeps checksums and proofs, and every other one is found', async () => {
    await using store = await openTestStore(kind);
    await using metadata = await open(store, after);
    const { db } = metadata;
    await insert(db, 0, 20);
    await db.updateTable('sighting').set({ owner: 'moved', seen_us: dayUs }).where('id', '<', 's00005').execute();
    await db
      .updateTable('sighting')
      .set({ mark: new Uint8Array([1]) })
      .where('id', '=', 's00007')
      .execute();
    await db.updateTable('sighting').set({ views: 7 }).execute();
    await db.deleteFrom('sighting').where('id', '>', 's00017').execute();
    const again = { id: 's00003', owner: 'again', seen_us: 0, note: '', mark: new Uint8Array(), views: 0 };
    const upsert = db.insertInto('sighting').values(again);
    await upsert.onConflict((conflict) => conflict.doNothing()).execute();
    await upsert.onConflict((conflict) => conflict.column('id').doUpdateSet({ note: 'again' })).execute();
    const undone = db.transaction().execute(async (trx) => {
      await trx.deleteFrom('sighting').execute();
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await damageOf(store)).toEqual([]);

    const statements = {
      "update sighting set note = 'x' where id = 's00003'":
        /^sighting s00003: its row in sighting was altered or added$/,
      "update sighting set seen_us = seen_us + 1 where id = 's00008'": /s00008/,
      "insert into sighting (id, seen_us, mark, views) values ('new', 0, '', 0)":
        /new.*1970-01-01: expected 0 rows, found 1/,
      "delete from sighting where owner = 'moved'": /sighting of moved on 1970-01-02: expected 5 rows, found 0/,
      "update row_proofs set word_0 = word_0 + 1 where owner = 'owner 1'": /owner 1 .* rows that differ/,
      'delete from row_proofs': /expected 0 rows/,
    };
    for (const [statement, found] of Object.entries(statements)) {
      await alterRows(store, statement);
      expect((await damageOf(store)).join('; '), statement).toMatch(found);
    }
    // A change by the cloud does not hide it.
    await db.updateTable('sighting').set({ note: 'y' }).where('id', '=', 's00008').execute();
    expect((await damageOf(store)).join('; ')).toContain('s00008');
  });

  test('a definition that changes gives all rows new checksums', async () => {
    await using store = await openTestStore(kind);
    {
      await using metadata = await open(store, after);
      await insert(metadata.db, 0, 10);
    }
    const fewer: CheckedTable = { ...sightings, columns: ['id', 'owner', 'seen_us'] };
    await using metadata = await open(store, [...after, { version: 3, statements: [], checked: [fewer] }]);
    await metadata.db.updateTable('sighting').set({ owner: 'x' }).execute();
    const reading = { file: store.directory.file('meta.sqlite'), database: store.database };
    await using reader = await openRowReader(reading, undefined, new AbortController().signal);
    expect(await findRowDamage(reader, [fewer])).toEqual({ rows: 10, damages: [] });
  });
});
