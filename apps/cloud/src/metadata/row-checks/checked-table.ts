/**
 * Tables whose rows carry a checksum (`row_check`), and whose sets of rows carry a proof (docs/specs/integrity.md, ADR-0059).
 *
 * A feature declares a table here in a few lines; triggers of the writing connection do the rest (row-triggers.ts), whatever statement
 * changes the rows. Checksums are compared in this process, without a function of the database.
 */
import { hash } from 'node:crypto';

export interface CheckedTable {
  readonly table: string;
  /** One row, for people, such as `picture or file`. */
  readonly what: string;
  /** Names a row. Unique and never null, unless the table is small. */
  readonly key: readonly string[];
  /** The table has few rows: existing ones get their checksums in one statement. */
  readonly isSmall?: true;
  /** What the checksum covers, in this order: text, whole numbers and null. Includes the key, the owner and the time of the bucket. */
  readonly columns: readonly string[];
  /** Columns with bytes that it covers, too. */
  readonly bytes?: readonly string[];
  /** In SQLite, its rows are in the order of the key, and have no rowid. */
  readonly isInKeyOrder?: true;
  /** The column with the owner; each owner has a proof. Absent: one proof for the whole table. */
  readonly owner?: string;
  /** A column with a time: each owner then has a proof for each UTC day. */
  readonly time?: string;
  /** Microseconds in a unit of that time. Default: 1; 1,000: it is in milliseconds. */
  readonly usPerTime?: number;
}

/** What a `create table` statement does not say, and what differs from it. */
interface Declared extends Partial<CheckedTable> {
  /** Columns that decide nothing. */
  readonly uncovered?: readonly string[];
}

/**
 * Declares tables as their statements have them: the primary key names a row, and the checksum covers all columns, in their order.
 *
 * @param statements of the schema, of which one creates the table
 */
export function checkedIn(
  statements: readonly string[],
): (table: string, what: string, declared?: Declared) => CheckedTable {
  return (table, what, { uncovered = [], ...declared } = {}) => {
    const statement = statements.find((text) => text.startsWith(`create table ${table} (`));
    if (statement === undefined) throw new Error(`${table}: expected a statement that creates it, found none`);
    const parts = statement.slice(statement.indexOf('(') + 1, statement.lastIndexOf(')')).split(/,(?![^(]*\))/);
    const columns: string[] = [];
    const bytes: string[] = [];
    let key: string[] = [];
    for (const part of parts.map((text) => text.trim())) {
      const [, listed] = /^primary key \((.*)\)$/.exec(part) ?? [];
      const [name = ''] = part.split(' ', 1);
      if (listed !== undefined) key = listed.split(', ');
      else if (part.includes(' primary key')) key = [name];
      if (listed !== undefined || ['unique', 'row_check', ...uncovered].includes(name)) continue;
      (part.startsWith(`${name} blob`) ? bytes : columns).push(name);
    }
    return { table, what, key, columns, ...(bytes.length > 0 && { bytes }), ...declared };
  };
}

/** A set of rows that has a proof. */
export interface Bucket {
  readonly owner: string;
  /** Days since 1970; 0 if the table is not divided by day. */
  readonly day: number;
}

export const dayUs = 86_400_000_000;

export function dayOfUs(us: number): number {
  return Math.floor(us / dayUs);
}

type Row = Readonly<Record<string, unknown>>;

/** Between values, and in place of null: characters that text hardly ever has. Against damage, that is enough. */
export const separator = '\u001f';
export const absent = '\u001e';

/** The text that a row's checksum is computed from, as in `textSql`. Joined at once: hashing a text made of parts takes twice as long. */
function textOfRow({ columns, bytes = [] }: CheckedTable, row: Row): string {
  const texts: unknown[] = [];
  for (const column of columns) texts.push(row[column] ?? absent);
  for (const column of bytes) texts.push(textOfBytes(row[column]));
  texts.push('');
  return texts.join(separator);
}

function textOfBytes(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value ?? absent);
}

/** @param values of the columns, in their order */
export function textOfValues(values: readonly unknown[]): string {
  const texts = values.map(textOfBytes);
  texts.push('');
  return texts.join(separator);
}

/** 128 bits, as 32 hexadecimal digits. */
export function hashOfText(text: string): string {
  return hash('sha256', text).slice(0, 32);
}

export function isRowRight(table: CheckedTable, row: Row): boolean {
  return row['row_check'] === hashOfText(textOfRow(table, row));
}

export function bucketOfRow({ owner, time, usPerTime = 1 }: CheckedTable, row: Row): Bucket {
  return {
    owner: owner === undefined ? '' : String(row[owner] ?? ''),
    day: time === undefined ? 0 : dayOfUs(Number(row[time]) * usPerTime),
  };
}

export function nameOfRow({ what, key }: CheckedTable, row: Row): string {
  return `${what} ${key.map((column) => String(row[column] ?? '-')).join(' ')}`;
}

/** Proofs hold sums of these four words of 32 bits, modulo 2^52, which both stores and this process can add. */
export const words: readonly number[] = [0, 1, 2, 3];
export const wordMask: number = 2 ** 52 - 1;

/** 0 for anything that is no checksum. */
export function wordOf(check: unknown, word: number): number {
  return typeof check === 'string' && /^[0-9a-f]{32}$/.test(check)
    ? Number.parseInt(check.slice(8 * word, 8 * word + 8), 16)
    : 0;
}

/** The number of rows, and the sums of the words of their checksums; the order of the rows does not matter. */
export class RowSum {
  rows = 0;
  #isWhole = true;
  readonly sums: number[] = words.map(() => 0);

  add(check: unknown): void {
    this.rows++;
    for (const word of words) this.sums[word] = ((this.sums[word] ?? 0) + wordOf(check, word)) % (wordMask + 1);
  }

  /** @param checks of these rows, without anything between them */
  addAll(rows: number, checks: string): void {
    this.rows += rows;
    const bytes = Buffer.from(checks, 'hex');
    // A checksum that is missing or damaged changes the number of bytes or the sums.
    if (bytes.length !== 16 * rows) this.#isWhole = false;
    for (const word of words) {
      let sum = this.sums[word] ?? 0;
      for (let at = 4 * word, added = 1; at + 4 <= bytes.length; at += 16, added++) {
        sum += bytes.readUInt32BE(at);
        // So many words are added exactly.
        if (added % 2 ** 20 === 0) sum %= wordMask + 1;
      }
      this.sums[word] = sum % (wordMask + 1);
    }
  }

  /** @param proof a row of `row_proofs`; undefined: no rows are expected */
  matches(proof: Row | undefined): boolean {
    return (
      this.#isWhole &&
      this.rows === Number(proof?.['rows'] ?? 0) &&
      words.every((word) => this.sums[word] === Number(proof?.[`word_${word}`] ?? 0))
    );
  }
}
