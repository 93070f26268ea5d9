/** Damages rows of the catalog of readings in meta.sqlite, as a program or a disk could. */
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Damage, oneOf, type Random } from './damage.ts';

type Row = Record<string, SQLInputValue>;
const tables = ['tabular_files', 'tabular_deletes', 'tabular_state', 'tabular_proofs', 'tabular_day_proofs'] as const;

export const catalogDamages: readonly string[] = [
  'a value changed',
  'a bit of a value flipped',
  'a row removed',
  'a row doubled under another name',
  'values of two rows exchanged',
];

export async function damageCatalog(directory: string, kind: string, random: Random): Promise<Damage> {
  const file = join(directory, 'meta.sqlite');
  const before = withDatabase(file, (db) => tables.map((table) => [table, rowsOf(db, table)] as const));
  const what = withDatabase(file, (db) => damageThatIsPossible(db, kind, random));
  return {
    what: `catalog: ${what}`,
    sparesWhole: what.startsWith('tabular_day_proofs'),
    names: ['catalog'],
    async undo() {
      withDatabase(file, (db) => {
        db.exec('begin immediate');
        for (const [table, rows] of before) {
          db.exec(`delete from ${table}`);
          for (const row of rows) insert(db, table, row);
        }
        db.exec('commit');
      });
    },
  };
}

/** A damage that constraints of the database prevent, such as a day that another row has, is replaced by another one of its kind. */
function damageThatIsPossible(db: DatabaseSync, kind: string, random: Random): string {
  for (;;) {
    db.exec('begin immediate');
    try {
      const what = damage(db, kind, random);
      db.exec('commit');
      return what;
    } catch (caught) {
      db.exec('rollback');
      if (!String(caught).includes('constraint failed')) throw caught;
    }
  }
}

function damage(db: DatabaseSync, kind: string, random: Random): string {
  const table = oneOf(
    tables.filter((each) => rowsOf(db, each).length > (kind.includes('two') ? 1 : 0)),
    random,
  );
  const rows = rowsOf(db, kind.includes('doubled') ? 'tabular_files' : table);
  const row = oneOf(rows, random);
  switch (kind) {
    case 'a row removed':
      db.prepare(`delete from ${table} where rowid = ?`).run(row['rowid'] ?? null);
      return `${table}: ${kind}`;
    case 'a row doubled under another name': {
      const { rowid: _, ...copy } = row;
      insert(db, 'tabular_files', { ...copy, file: `${copy['file']}2` });
      return `tabular_files: ${kind}`;
    }
    case 'values of two rows exchanged': {
      const second = oneOf(
        rows.filter((each) => each['rowid'] !== row['rowid']),
        random,
      );
      const columns = Object.keys(row).filter(
        (name) => !['rowid', 'file', 'id', 'organization_id', 'proof_day'].includes(name) && row[name] !== second[name],
      );
      const column = oneOf(columns, random);
      set(db, table, row, column, second[column] ?? null);
      set(db, table, second, column, row[column] ?? null);
      return `${table}.${column}: ${kind}`;
    }
    default: {
      const columns = Object.keys(row).filter(
        (name) => name !== 'rowid' && !(table === 'tabular_state' && name === 'id'),
      );
      const column = oneOf(columns, random);
      set(db, table, row, column, changed(row[column] ?? null, kind, random));
      return `${table}.${column}: ${kind}`;
    }
  }
}

function changed(value: SQLInputValue, kind: string, random: Random): SQLInputValue {
  const isFlip = kind.includes('flipped');
  if (typeof value === 'number')
    return isFlip ? value ^ (1 << Math.floor(random(0, 30))) : value + 1 + Math.floor(random(0, 1e9));
  if (typeof value !== 'string' || value === '') return 'x';
  const at = Math.floor(random(0, value.length));
  const code = value.charCodeAt(at);
  const other = String.fromCharCode(isFlip ? code ^ 1 : code === 122 ? 97 : code + 1);
  return `${value.slice(0, at)}${other}${value.slice(at + 1)}`;
}

function set(db: DatabaseSync, table: string, row: Row, column: string, value: SQLInputValue): void {
  db.prepare(`update ${table} set ${column} = ? where rowid = ?`).run(value, row['rowid'] ?? null);
}

function insert(db: DatabaseSync, table: string, row: Row): void {
  const names = Object.keys(row);
  const places = names.map(() => '?').join(', ');
  db.prepare(`insert into ${table} (${names.join(', ')}) values (${places})`).run(...Object.values(row));
}

function rowsOf(db: DatabaseSync, table: string): Row[] {
  return db.prepare(`select rowid as "rowid", * from ${table}`).all() as Row[];
}

function withDatabase<T>(file: string, run: (db: DatabaseSync) => T): T {
  using db = new DatabaseSync(file, { timeout: 20_000 });
  return run(db);
}
