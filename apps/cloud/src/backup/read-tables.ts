/**
 * Reads the tables of a backup row by row for a restore into Postgres, from the files of a Postgres installation or the databases of a
 * SQLite one.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { dataLoss } from '@platform/base';
import { splitLines } from '../instance/split-lines.ts';
import { type TableHead, tablesFolder } from './copy/copy-postgres.ts';
import type { Manifest } from './manifest.ts';

export interface BackedUpTable {
  readonly head: TableHead;
  /** Each row is a JSON array of texts and nulls, in the order of the columns. */
  rows(): AsyncIterable<string> | Iterable<string>;
}

/** @param source the backup, whose files have been verified */
export async function readTables(source: string, { store, files }: Manifest): Promise<readonly BackedUpTable[]> {
  if (store !== 'postgres') return [...sqliteTables(source, 'meta'), ...sqliteTables(source, 'ingest')];
  const paths = files.map(({ path }) => path).filter((path) => path.startsWith(`${tablesFolder}/`));
  return Promise.all(
    paths.toSorted().map(async (path) => {
      const file = join(source, path);
      return { head: await readHead(file), rows: () => rowsOf(file) };
    }),
  );
}

const pieceBytes = 1024 * 1024;

async function* linesOf(file: string): AsyncIterable<string> {
  let lines: string[] = [];
  const split = splitLines((line) => lines.push(line));
  for await (const piece of createReadStream(file, { encoding: 'utf8', highWaterMark: pieceBytes })) {
    split(piece);
    const whole = lines;
    lines = [];
    yield* whole;
  }
}

async function readHead(file: string): Promise<TableHead> {
  for await (const line of linesOf(file)) return JSON.parse(line);
  throw dataLoss(`${file}: expected a first line that names the table, found none`);
}

async function* rowsOf(file: string): AsyncIterable<string> {
  let isHead = true;
  for await (const line of linesOf(file)) {
    if (!isHead) yield line;
    isHead = false;
  }
}

/** Without the files that SQLite would read beside it, because nobody wrote them into the backup. */
export function openAlone(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}

function sqliteTables(source: string, schema: string): BackedUpTable[] {
  const file = join(source, `${schema}.sqlite`);
  using db = openAlone(file);
  return db
    .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name`)
    .all()
    .map((row) => {
      const table = String(row['name']);
      const columns = db
        .prepare(`select name from pragma_table_info(?) order by cid`)
        .all(table)
        .map((column) => String(column['name']));
      return { head: { schema, table, columns }, rows: () => sqliteRows(file, table) };
    });
}

function* sqliteRows(file: string, table: string): Iterable<string> {
  using db = openAlone(file);
  const statement = db.prepare(`select * from "${table}"`);
  statement.setReadBigInts(true);
  for (const row of statement.iterate()) yield JSON.stringify(Object.values(row).map(textOf));
}

/** Text that Postgres can parse; it cannot contain NUL. */
function textOf(value: unknown): string | null {
  if (value === null) return null;
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return String(value).replaceAll('\0', '\ufffd');
}
