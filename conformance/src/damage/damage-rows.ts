/** Damages rows of the checked tables in meta.sqlite, as a program or a disk could: beside the cloud, without its triggers. */
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import {
  bucketOfRow,
  type CheckedTable,
  isRowRight,
  wordMask,
  wordOf,
  words,
} from '../../../apps/cloud/src/metadata/row-checks/checked-table.ts';
import { type Damage, oneOf, type Random } from './damage.ts';

type Row = Record<string, SQLInputValue>;

const kinds: Readonly<Record<string, (target: Target) => void>> = {
  'a row deleted': ({ db, table, row }) =>
    db.prepare(`delete from ${table.table} ${where(table)}`).run(...keyOf(table, row)),
  'a row moved to another owner': ({ db, table, row, rows }) => {
    const { owner } = table;
    if (owner === undefined) throw new Error('it has no owner');
    const other = rows.find((each) => each[owner] !== row[owner])?.[owner];
    set(db, table, row, owner, other ?? 'elsewhere');
  },
  "a row pointed at another's": ({ db, table, row, rows, random }) => {
    const columns = [...table.columns, ...(table.bytes ?? [])].filter(
      (column) => column !== table.owner && !table.key.includes(column),
    );
    const different = columns.flatMap((column) =>
      rows.filter((each) => !isSame(each[column], row[column])).map((each) => [column, each[column] ?? null] as const),
    );
    const [column, value] = oneOf(different, random);
    set(db, table, row, column, value);
  },
  'a row emptied of its checksum': ({ db, table, row }) => set(db, table, row, 'row_check', null),
};

export const rowDamages: readonly string[] = Object.keys(kinds);

interface Target {
  readonly db: DatabaseSync;
  readonly table: CheckedTable;
  readonly row: Row;
  readonly rows: readonly Row[];
  readonly random: Random;
}

/** Undefined: no row of the table can be damaged in this way, for example because there is only one. */
export function damageRow(
  directory: string,
  table: CheckedTable,
  kind: string,
  random: Random,
  pick: (row: Row) => boolean = () => true,
): Damage | undefined {
  const file = join(directory, 'meta.sqlite');
  using db = open(file);
  const rows = db.prepare(`select * from ${table.table}`).all() as Row[];
  const few = rows.filter(pick);
  if (few.length === 0) return undefined;
  const row = oneOf(few, random);
  db.exec('begin immediate');
  try {
    kinds[kind]?.({ db, table, row, rows, random });
    db.exec('commit');
  } catch {
    // Constraints of the database itself prevent it.
    db.exec('rollback');
    return undefined;
  }
  return {
    what: `${table.table} ${keyOf(table, row).join(' ')}: ${kind}`,
    names: [table.table],
    async undo() {
      using again = open(file);
      again.exec('begin immediate');
      const damaged = again.prepare(`select * from ${table.table}`).all() as Row[];
      const known = new Set(rows.map(textOf));
      // What the cloud has written since then has other keys, and stays.
      for (const each of damaged)
        if (!known.has(textOf(each)) && isOf(table, each, row)) {
          // By all its columns: keys with empty columns are not unique, so an intact row can have the same key.
          const every = Object.keys(each)
            .map((column) => `"${column}" is ?`)
            .join(' and ');
          again.prepare(`delete from ${table.table} where ${every}`).run(...Object.values(each));
          // The cloud has counted usage again, in a row of its own, which its proof contains.
          if (isRowRight(table, each)) takeFromProof(again, table, each);
        }
      if (!damaged.some((each) => textOf(each) === textOf(row))) {
        const names = Object.keys(row);
        again
          .prepare(`insert into ${table.table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`)
          .run(...Object.values(row));
      }
      again.exec('commit');
    },
  };
}

function takeFromProof(db: DatabaseSync, table: CheckedTable, row: Row): void {
  const { owner, day } = bucketOfRow(table, row);
  const less = words.map((word) => `word_${word} = (word_${word} - ${wordOf(row['row_check'], word)}) & ${wordMask}`);
  db.prepare(
    `update row_proofs set rows = rows - 1, ${less.join(', ')} where table_name = ? and owner = ? and day = ?`,
  ).run(table.table, owner, day);
}

/** Whether it is the damaged row: it has the same key, or only its owner differs. */
function isOf({ key, owner }: CheckedTable, each: Row, row: Row): boolean {
  return key.every((column) => column === owner || isSame(each[column], row[column]));
}

function isSame(a: unknown, b: unknown): boolean {
  return textOf(a) === textOf(b);
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    each instanceof Uint8Array || each?.type === 'Buffer' ? Buffer.from(each).toString('hex') : each,
  );
}

function set(db: DatabaseSync, table: CheckedTable, row: Row, column: string, value: SQLInputValue): void {
  db.prepare(`update ${table.table} set "${column}" = ? ${where(table)}`).run(value, ...keyOf(table, row));
}

function where({ key }: CheckedTable): string {
  return `where ${key.map((column) => `"${column}" is ?`).join(' and ')}`;
}

function keyOf({ key }: CheckedTable, row: Row): SQLInputValue[] {
  return key.map((column) => row[column] ?? null);
}

function open(file: string): DatabaseSync {
  return new DatabaseSync(file, { timeout: 20_000, enableForeignKeyConstraints: false });
}
