import { expect, test } from 'vitest';
import { checkTables, type exceptions, tablesIn } from './check-tables.ts';

const store = [
  'apps/cloud/src/machines/store.ts',
  "['create table parts (id text)', `create table part_status (id text)`]",
];
const check = (files: Readonly<Record<string, string>>, allowed: typeof exceptions = []) =>
  checkTables(new Map([store as [string, string], ...Object.entries(files)]), allowed).problems;

test.each([
  "db.selectFrom('parts')",
  "db.selectFrom(['fragments as f', 'parts as p'])",
  "db\n.selectFrom('x')\n.innerJoin('parts as p', 'p.id', 'x.part_id')",
  "trx.insertInto('parts').values(row)",
  "trx.updateTable('parts')",
  "trx.deleteFrom('parts')",
  "for (const table of ['fragments', 'parts'] as const) trx.deleteFrom(table)",
  "const column = { table: 'parts', key: ['id'] }",
  "type Row = CloudTables['parts']",
  'sql`exists (select 1 from parts where id = 1)`',
  'db.prepare("select * from meta.parts")',
  "['alter table parts add column x text']",
  "const table = 'part_status'",
])('a feature that names a table of another feature is reported: %s', (text) => {
  const [problem = '', ...more] = check({ 'apps/cloud/src/fragments/a.ts': text });
  expect(problem).toMatch(
    /^apps\/cloud\/src\/fragments\/a\.ts:\d+: table part\w+ belongs to machines: call a function/,
  );
  expect(more).toEqual([]);
  expect(check({ 'apps/cloud/src/compose.ts': text })).toHaveLength(1);
  expect(check({ 'apps/cloud/src/machines/deeper/a.ts': text })).toEqual([]);
});

test('words outside statements are not tables', () => {
  const text = `// db.selectFrom('parts')\nlog.child('parts'); throw new Error('expected one of the parts, found none from parts');
    import { x } from '../parts'; const part = Object.entries(given.parts); select('parts.id')`;
  expect(tablesIn(text, new Set(['parts']))).toEqual([]);
});

test('a table that two features create, one that was dropped, and one that was renamed', () => {
  expect(check({ 'apps/cloud/src/fragments/store.ts': "'create table parts (id text)'" })[0]).toBe(
    'apps/cloud/src/fragments/store.ts: table parts belongs to machines already',
  );
  const moved = { 'apps/cloud/src/fragments/store.ts': "['drop table parts', 'insert into x select id from parts']" };
  expect(check(moved)).toEqual([]);
  const renamed = { 'apps/cloud/src/machines/upgrade.ts': "'alter table parts rename to pieces'" };
  const user = { 'apps/cloud/src/fragments/a.ts': "db.selectFrom('pieces')" };
  expect(check({ ...renamed, ...user })[0]).toContain('table pieces belongs to machines');
});

test('a store.ts that describes a table of another feature, or one that no feature creates', () => {
  const text = 'export interface FragmentsTables {\n  parts: { id: string };\n  gone: {\n    parts: number;\n  };\n}\n';
  expect(check({ 'apps/cloud/src/fragments/store.ts': text })).toEqual([
    'apps/cloud/src/fragments/store.ts: has the type of table parts, which its feature does not create',
    'apps/cloud/src/fragments/store.ts: has the type of table gone, which its feature does not create',
  ]);
});

test('an exception applies only to its module and tables, and is reported when it is no longer needed', () => {
  const allowed = [{ module: 'apps/cloud/src/backup/', tables: ['parts', 'part_status'], reason: 'copies all' }];
  const files = {
    'apps/cloud/src/backup/a.ts': "'select * from parts'",
    'apps/cloud/src/admin/a.ts': "'select 1 from parts'",
  };
  expect(check(files, allowed)).toEqual([
    'apps/cloud/src/admin/a.ts:1: table parts belongs to machines: call a function of its feature',
    'apps/cloud/src/backup/: is excepted for table part_status, and does not name it',
  ]);
});
