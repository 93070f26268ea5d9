/**
 * Keeps checksums and proofs in Postgres, by triggers that act only in the sessions of the cloud's writer: a change by any other program
 * leaves the checksum and the proof as they were, and is noticed.
 */
import type { PostgresTransaction } from '../postgres/postgres-writer.ts';
import { type CheckedTable, wordMask, words } from './checked-table.ts';
import {
  addRowSql,
  addToProofsSql,
  checkSql,
  daySql,
  ownerSql,
  removeEmptySql,
  removeFromProofsSql,
  staysSql,
} from './row-check-sql.ts';

/** Set for the sessions of the writer. */
export const writerSetting = `set platform.keeps_row_checks = 'on'`;
const inWriter = `current_setting('platform.keeps_row_checks', true) = 'on'`;

const functions = `
  drop function if exists row_check(text);
  create or replace function row_word(text, bigint) returns bigint language sql immutable as
    $$ select case when $1 ~ '^[0-9a-f]{32}$' then ('x' || substr($1, cast(8 * $2 + 1 as integer), 8))::bit(32)::bigint else 0 end $$;
`;

/** Creates what is missing; a restored database has no triggers. */
export async function watchPostgresRows(
  transaction: Pick<PostgresTransaction, 'query'>,
  tables: readonly CheckedTable[],
): Promise<void> {
  if (tables.length === 0) return;
  const { rows } = await transaction.query(
    `select c.relname as name, obj_description(t.oid, 'pg_trigger') as definition from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgname = 'row_proof' and c.relnamespace = current_schema()::regnamespace`,
  );
  const installed = new Map(rows.map((row) => [row['name'], row['definition']]));
  const missing = tables.filter((table) => installed.get(table.table) !== definitionOf(table));
  if (missing.length === 0) return;
  await transaction.query(functions);
  for (const table of missing) await transaction.query(triggersOf(table));
}

/** Begins with the version of the triggers themselves. */
function definitionOf(table: CheckedTable): string {
  return `3 ${JSON.stringify(table).replaceAll("'", '')}`;
}

/** Proofs of added and deleted rows change once for each statement; triggers of updates with a list of columns can only be for each row. */
function triggersOf(table: CheckedTable): string {
  const name = table.table;
  const covered = [...table.columns, ...(table.bytes ?? [])].map((column) => `"${column}"`).join(', ');
  const check = (row: string): string => checkSql(table, row, 'postgres');
  const change = (row: string, rows: number): string =>
    addRowSql(`'${name}'`, ownerSql(table, row), daySql(table, row), String(rows), wordsOf(row, rows));
  return `
    create or replace function ${name}_row_check() returns trigger language plpgsql as $$ begin
      -- A damaged row keeps its wrong checksum: a change must not hide the damage.
      if tg_op = 'UPDATE' and old.row_check is distinct from ${check('old')} then new.row_check := old.row_check;
      else new.row_check := ${check('new')}; end if;
      return new;
    end $$;
    create or replace function ${name}_rows_added() returns trigger language plpgsql as $$ begin
      ${addToProofsSql(table, 'added', 'true', wordOfRight)};
      return null;
    end $$;
    create or replace function ${name}_rows_removed() returns trigger language plpgsql as $$ begin
      ${removeFromProofsSql(table, 'removed').join('; ')};
      return null;
    end $$;
    create or replace function ${name}_row_changed() returns trigger language plpgsql as $$ begin
      -- Most changes stay in the set, whose proof then changes once.
      if old.row_check is not null and ${staysSql(table)} then
        update row_proofs set ${replaced.join(', ')} where table_name = '${name}' and owner = ${ownerSql(table, 'new')} and "day" = ${daySql(table, 'new')};
        return null;
      end if;
      if old.row_check is not null then ${change('old', -1)}; end if;
      ${change('new', 1)};
      ${removeEmptySql(`table_name = '${name}' and owner = ${ownerSql(table, 'old')} and "day" = ${daySql(table, 'old')}`)};
      return null;
    end $$;
    drop trigger if exists row_check on ${name};
    drop trigger if exists row_proof on ${name};
    drop trigger if exists row_proof_of_update on ${name};
    drop trigger if exists row_proof_of_delete on ${name};
    drop function if exists ${name}_row_proof();
    create trigger row_check before insert or update of ${covered} on ${name} for each row when (${inWriter}) execute function ${name}_row_check();
    create trigger row_proof after insert on ${name} referencing new table as added for each statement when (${inWriter}) execute function ${name}_rows_added();
    create trigger row_proof_of_delete after delete on ${name} referencing old table as removed for each statement when (${inWriter}) execute function ${name}_rows_removed();
    create trigger row_proof_of_update after update of ${covered} on ${name} for each row when (${inWriter} and old.row_check is distinct from new.row_check) execute function ${name}_row_changed();
    comment on trigger row_proof on ${name} is '${definitionOf(table)}';
  `;
}

/** Of a row that had a right checksum, and has one. */
const replaced = words.map(
  (word) =>
    `word_${word} = (word_${word} + ${wordOfRight('new.row_check', word)} - ${wordOfRight('old.row_check', word)}) & ${wordMask}`,
);

/** Like `row_word`, for a checksum that was just computed: in half of the time. */
function wordOfRight(check: string, word: number): string {
  return `('x' || substr(${check}, ${8 * word + 1}, 8))::bit(32)::bigint`;
}

function wordsOf(row: string, rows: number): readonly string[] {
  return words.map((word) => `(${rows} * row_word(${row}.row_check, ${word})) & ${wordMask}`);
}
