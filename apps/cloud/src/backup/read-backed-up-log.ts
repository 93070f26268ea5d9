/** Reads those rows of the ingest log from a backup of either store that are proven by their checksums. */
import { join } from 'node:path';
import { rowChecksums, type VerifiedRow } from '../ingest/losses/row-checksums.ts';
import type { StoredRow } from '../ingest/losses/verify-rows.ts';
import type { Manifest } from './manifest.ts';
import { openAlone, readTables } from './read-tables.ts';

/**
 * In order of position (SQLite) or in file order (Postgres), both ends included. Unreadable rows are skipped, because a backup may be
 * damaged, too.
 */
export async function* readBackedUpLog(
  backup: string,
  manifest: Manifest,
  first: number,
  last: number,
): AsyncGenerator<VerifiedRow> {
  const rows = manifest.store === 'postgres' ? tableRows(backup, manifest) : sqliteRows(backup, first, last);
  try {
    for await (const stored of rows) {
      const row = provenRow(stored);
      if (row !== undefined && row.position >= first && row.position <= last) yield row;
    }
  } catch {
    // The rest of the backup's log is unreadable.
  }
}

function* sqliteRows(backup: string, first: number, last: number): Generator<StoredRow> {
  using db = openAlone(join(backup, 'ingest.sqlite'));
  const rows = db.prepare('select * from log where position between ? and ? order by position').iterate(first, last);
  for (const row of rows) yield row as unknown as StoredRow;
}

/** All rows of the table's file, in file order. */
async function* tableRows(backup: string, manifest: Manifest): AsyncGenerator<StoredRow> {
  const tables = await readTables(backup, manifest);
  const log = tables.find(({ head }) => head.schema === 'ingest' && head.table === 'log');
  if (log === undefined) return;
  for await (const line of log.rows()) {
    const values: readonly (string | null)[] = JSON.parse(line);
    const value = (column: string): string | null => values[log.head.columns.indexOf(column)] ?? null;
    yield {
      position: Number(value('position')),
      part: value('part'),
      stream: bytesOf(value('stream')),
      seq: Number(value('seq')),
      sha256: bytesOf(value('sha256')),
      batch: bytesOf(value('batch')),
      head_checksum: numberOf(value('head_checksum')),
      batch_checksum: numberOf(value('batch_checksum')),
    };
  }
}

/** Parses bytes as Postgres writes them. */
function bytesOf(text: string | null): Uint8Array | null {
  return text?.startsWith('\\x') ? new Uint8Array(Buffer.from(text.slice(2), 'hex')) : null;
}

function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** Undefined: damaged. */
function provenRow(stored: StoredRow): VerifiedRow | undefined {
  const { position, part, stream, seq, sha256, batch } = stored;
  const isTyped = typeof part === 'string' && typeof seq === 'number';
  const isWhole = stream instanceof Uint8Array && sha256 instanceof Uint8Array && batch instanceof Uint8Array;
  if (!isTyped || !isWhole) return undefined;
  const row = { position, partId: part, stream, seq, sha256, batch };
  const { head, batch: whole } = rowChecksums(row);
  return head === stored.head_checksum && whole === stored.batch_checksum ? row : undefined;
}
