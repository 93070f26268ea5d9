/**
 * Keeps checksums and proofs in Postgres, by triggers that act only in the sessions of the cloud's writer: a change by any other program
 * leaves the checksum and the proof as they were, and is noticed.
 */
import type { PostgresTransaction } from '../postgres/postgres-writer.ts';
import type { CheckedTable } from './checked-table.ts';
import { addRowSql, checkSql, removeRowSql } from './row-check-sql.ts';

/** Set for the sessions of the writer. */
export const writerSetting = `set platform.keeps_row_checks = 'on'`;
const inWriter = `current_setting('platform.keeps_row_checks', true) = 'on'`;

const functions = `
  create or replace function row_check(text) returns text language sql immutable as
    $$ select left(encode(sha256(convert_to($1, 'UTF8')), 'hex'), 32) $$;
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

function definitionOf(table: CheckedTable): string {
  return JSON.stringify(table).replaceAll("'", '');
}

function triggersOf(table: CheckedTable): string {
  const name = table.table;
  const covered = [...table.columns, ...(table.bytes ?? [])].map((column) => `"${column}"`).join(', ');
  const check = (row: string): string => checkSql(table, row, 'postgres');
  return `
    create or replace function ${name}_row_check() returns trigger language plpgsql as $$ begin
      -- A damaged row keeps its wrong checksum: a change must not hide the damage.
      if tg_op = 'UPDATE' and old.row_check is distinct from ${check('old')} then new.row_check := old.row_check;
      else new.row_check := ${check('new')}; end if;
      return new;
    end $$;
    create or replace function ${name}_row_proof() returns trigger language plpgsql as $$ begin
      if tg_op <> 'INSERT' then ${removeRowSql(table).join('; ')}; end if;
      if tg_op <> 'DELETE' then ${addRowSql(table, 'new.row_check')}; end if;
      return null;
    end $$;
    drop trigger if exists row_check on ${name};
    drop trigger if exists row_proof on ${name};
    drop trigger if exists row_proof_of_update on ${name};
    create trigger row_check before insert or update of ${covered} on ${name} for each row when (${inWriter}) execute function ${name}_row_check();
    create trigger row_proof after insert or delete on ${name} for each row when (${inWriter}) execute function ${name}_row_proof();
    create trigger row_proof_of_update after update of ${covered} on ${name} for each row when (${inWriter} and old.row_check is distinct from new.row_check) execute function ${name}_row_proof();
    comment on trigger row_proof on ${name} is '${definitionOf(table)}';
  `;
}
