import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { migrations } from './migrations.ts';
import { sealedColumns } from './sealed-columns.ts';

/**
 * Byte columns without secrets to seal: hashes are only compared, images are public, queries are BSON, and invoices are as readable as the
 * rows that they are made of.
 */
const notSealed = [
  'sessions.token_hash',
  'one_time_links.token_hash',
  'invitations.token_hash',
  'organization_logos.image',
  'saved_queries.pipeline',
  'data_indexes.spec',
  'invoice_pdfs.pdf',
];

function schema(): { table: string; column: string; type: string }[] {
  using db = new DatabaseSync(':memory:');
  for (const { statements } of migrations) for (const statement of statements) db.exec(statement);
  return db
    .prepare(
      `select tables.name as "table", columns.name as "column", lower(columns.type) as type
       from sqlite_master as tables join pragma_table_info(tables.name) as columns where tables.type = 'table'`,
    )
    .all() as never;
}

test('D6 every byte column is registered as sealed, is the hash of a sealed one, or is known to be neither', () => {
  const registered = sealedColumns.flatMap(({ table, sealed, hash }) =>
    [sealed, hash].flatMap((column) => (column === undefined ? [] : [`${table}.${column}`])),
  );
  const bytes = schema()
    .filter(({ type }) => type === 'blob')
    .map(({ table, column }) => `${table}.${column}`);
  expect(bytes.length).toBeGreaterThan(5);
  expect(bytes.toSorted()).toEqual([...registered, ...notSealed].toSorted());
});

test('D6 the key columns named in the registry exist', () => {
  const columns = new Set(schema().map(({ table, column }) => `${table}.${column}`));
  const keys = sealedColumns.flatMap(({ table, key }) => key.map((column) => `${table}.${column}`));
  expect(keys.filter((key) => !columns.has(key))).toEqual([]);
  expect(sealedColumns.every(({ key }) => key.length > 0)).toBe(true);
});
