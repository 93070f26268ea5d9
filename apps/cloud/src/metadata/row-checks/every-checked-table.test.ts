import { silentLog, systemClock } from '@platform/base';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { migrations } from '../migrations.ts';
import { openMetadata } from '../open-metadata.ts';
import type { Database } from '../tables.ts';
import { alterRows } from '../testing/test-row-watch.ts';
import { openTestStore, type StoreKind, storeKinds } from '../testing/test-store.ts';
import { throwUncaught } from '../testing/throw-uncaught.ts';
import type { CheckedTable } from './checked-table.ts';
import { checkedTablesOf } from './checked-tables-of.ts';
import { findRowDamage } from './find-row-damage.ts';
import { openRowReader } from './open-row-reader.ts';

const tables = checkedTablesOf(migrations);
const rowsOfTable = 5;

interface Column {
  readonly name: string;
  readonly type: string;
}

async function columnsOf(db: Database, kind: StoreKind, table: string): Promise<readonly Column[]> {
  const found =
    kind === 'sqlite'
      ? sql<Column>`select name, type from pragma_table_info(${table})`
      : sql<Column>`select column_name as name, data_type as type from information_schema.columns where table_schema = 'meta' and table_name = ${table}`;
  return (await found.execute(db)).rows.filter(({ name }) => name !== 'row_check');
}

/** All values of a row have the same number, so that rows refer to each other. */
function numbered(type: string, n: number): unknown {
  if (/blob|bytea/i.test(type)) return new Uint8Array([n]);
  return /int/i.test(type) ? n : `x${n}`;
}

/** Rows x1 to x5 of each checked table, in an order that their references allow. */
async function fill(db: Database, kind: StoreKind): Promise<void> {
  let left: readonly CheckedTable[] = tables;
  while (left.length > 0) {
    const refused: CheckedTable[] = [];
    for (const table of left) {
      const columns = await columnsOf(db, kind, table.table);
      const values = Array.from({ length: rowsOfTable }, (_, n) =>
        Object.fromEntries(columns.map(({ name, type }) => [name, numbered(type, n + 1)])),
      );
      await db
        .insertInto(table.table as 'organizations')
        .values(values as never)
        .execute()
        .catch(() => refused.push(table));
    }
    if (refused.length === left.length)
      throw new Error(`expected rows for each table, found none for ${refused.map(({ table }) => table).join(', ')}`);
    left = refused;
  }
}

/** As a program or a person with the database's own command line, which constraints and guards do not stop. */
function damageOf(table: CheckedTable, kind: StoreKind): readonly string[] {
  const { table: name, key, owner } = table;
  const isRow = (n: number): string =>
    kind === 'sqlite' ? `where "${key[0]}" in ('x${n}', ${n})` : `where cast("${key[0]}" as text) in ('x${n}', '${n}')`;
  const others = [...table.columns, ...(table.bytes ?? [])].filter((column) => column !== owner);
  const other = others.findLast((column) => !key.includes(column)) ?? others.at(-1) ?? '';
  return [
    // Its values are then those of no other row, which some tables do not allow.
    `create temp table first_of_${name} as select * from ${name} ${isRow(1)}`,
    `delete from ${name} ${isRow(1)}`,
    ...(owner === undefined ? [] : [`update ${name} set "${owner}" = 'elsewhere' ${isRow(2)}`]),
    `update ${name} set "${other}" = (select "${other}" from first_of_${name}) ${isRow(3)}`,
    `update ${name} set row_check = null ${isRow(4)}`,
  ];
}

test.each(storeKinds)('D33 in %s, each kind of damage to rows of each checked table is named', async (kind) => {
  await using store = await openTestStore(kind, migrations);
  const file = store.directory.file('meta.sqlite');
  await using metadata = await openMetadata({
    ...{ clock: systemClock, onFatal: throwUncaught, database: store.database, migrations, log: silentLog, file },
  });
  await fill(metadata.db, kind);
  const look = async () => {
    await using reader = await openRowReader(
      { file, database: store.database },
      undefined,
      new AbortController().signal,
    );
    return await findRowDamage(reader, tables);
  };
  expect(await look()).toEqual({ rows: tables.length * rowsOfTable, damages: [] });
  const unguarded =
    kind === 'sqlite'
      ? 'pragma foreign_keys = off; drop trigger invoices_no_delete; drop trigger invoices_final'
      : 'set session_replication_role = replica';
  await alterRows(store, `${unguarded}; ${tables.flatMap((table) => damageOf(table, kind)).join('; ')}`);
  const { damages } = await look();
  for (const table of tables) {
    const found = damages.filter((damage) => damage.table === table.table).map(({ text }) => text);
    const named = found.filter((text) => text.includes('was altered or added')).join('; ');
    expect(named, table.table).toMatch(/\bx?3\b/);
    expect(named, table.table).toMatch(/\bx?4\b/);
    expect(found.join('; '), table.table).toMatch(/expected \d rows, found (\d|rows that differ)/);
    if (table.owner !== undefined) expect(found.join('; '), table.table).toContain('of elsewhere');
  }
});
