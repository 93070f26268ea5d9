/**
 * Seals every stored document with the current key. Each batch is a transaction, and the stored documents show what is done, so that a
 * start continues after a kill.
 */
import type { Clock, Log } from '@platform/base';
import { sql } from 'kysely';
import type { KeyRing } from '../instance/instance-key.ts';
import type { SealedDocument } from '../instance/sealed-column.ts';
import { readState, writeState } from '../instance/stored-state.ts';
import { openDocument, sealDocument, sealedDocuments, sealOf } from './sealed-documents.ts';
import type { Database } from './tables.ts';

/** Name in `instance_state`; the value is the id of the key that seals all documents. */
const stateName = 'documents-key';
const rowsAtOnce = 50;
const tellEveryMs = 5_000;

export interface SealOptions {
  readonly db: Database;
  readonly ring: KeyRing;
  readonly log: Log;
  readonly clock: Pick<Clock, 'monotonic'>;
  /**
   * Checks again even if all documents were under the current key, because some may have been written during its replacement. Default
   * false.
   */
  readonly again?: boolean;
}

/** @returns the number of documents sealed. */
export async function sealStoredDocuments(options: SealOptions): Promise<number> {
  const { ring, log, clock, again = false } = options;
  // Reads documents in their stored form.
  const db = options.db.withoutPlugins();
  const state = await readState(db, stateName);
  const { id } = ring.current;
  if (state === id && !again) return 0;
  let count = 0;
  let toldMs = clock.monotonic();
  for (const document of sealedDocuments) {
    let after: Key | undefined;
    do {
      const keys = await keysOf(db, document, id, after);
      if (keys.length === 0) break;
      count += await db.transaction().execute((trx) => sealRows(trx, ring, document, keys));
      after = keys.at(-1);
      if (clock.monotonic() - toldMs > tellEveryMs) {
        log.info('encrypting stored configurations with the instance key', { sealed: count });
        toldMs = clock.monotonic();
      }
    } while (after !== undefined);
  }
  await writeState(db, stateName, id);
  if (count > 0) log.info('stored configurations have been encrypted with the instance key', { sealed: count });
  return count;
}

/** Opens every document. @returns their number. @throws data_loss */
export async function checkStoredDocuments(given: Database, ring: KeyRing): Promise<number> {
  const db = given.withoutPlugins();
  let count = 0;
  for (const document of sealedDocuments) {
    let after: Key | undefined;
    for (;;) {
      const keys = await keysOf(db, document, '', after);
      if (keys.length === 0) break;
      for (const key of keys) openDocument(ring, await storedOf(db, document, key), rowText(document, key));
      count += keys.length;
      after = keys.at(-1);
    }
  }
  return count;
}

type Key = readonly [unknown, unknown];

/** The next rows whose document is under another key. */
async function keysOf(
  db: Database,
  { table, key, column }: SealedDocument,
  keyId: string,
  after: Key | undefined,
): Promise<Key[]> {
  const [first, second] = key.map((name) => sql.ref(name));
  const behind = after === undefined ? sql`1 = 1` : sql`(${first}, ${second}) > (${after[0]}, ${after[1]})`;
  const { rows } = await sql<{ first: unknown; second: unknown }>`
    select ${first} as first, ${second} as second from ${sql.table(table)}
    where ${behind} and ${sql.ref(column)} <> '' and ${sql.ref(column)} not like ${`${sealOf(keyId)}%`}
    order by ${first}, ${second} limit ${sql.lit(rowsAtOnce)}`.execute(db);
  return rows.map((row) => [row.first, row.second]);
}

function rowText({ table, key }: SealedDocument, values: Key): string {
  return `${table}: ${key[0]} ${values[0]}, ${key[1]} ${values[1]}`;
}

function rowOf({ key }: SealedDocument, values: Key) {
  return sql`${sql.ref(key[0])} = ${values[0]} and ${sql.ref(key[1])} = ${values[1]}`;
}

async function storedOf(db: Database, document: SealedDocument, key: Key): Promise<string> {
  const { table, column } = document;
  const { rows } = await sql<{ text: string }>`
    select ${sql.ref(column)} as text from ${sql.table(table)} where ${rowOf(document, key)}`.execute(db);
  return rows[0]?.text ?? '';
}

async function sealRows(trx: Database, ring: KeyRing, document: SealedDocument, keys: readonly Key[]): Promise<number> {
  const { table, column } = document;
  let count = 0;
  for (const key of keys) {
    const stored = await storedOf(trx, document, key);
    if (stored === '') continue;
    const sealed = sealDocument(ring, openDocument(ring, stored, rowText(document, key)));
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sealed} where ${rowOf(document, key)}`.execute(trx);
    count++;
  }
  return count;
}
