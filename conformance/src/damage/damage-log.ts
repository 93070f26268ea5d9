/** Damages the stores of a stopped cloud: rows of its ingest log, and the tails of its write-ahead logs. */
import { existsSync } from 'node:fs';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { oneOf, type Random } from './damage.ts';

export interface LogDamage {
  readonly what: string;
  /** What the doctor finds before the cloud has started again; null if it may be unable to detect the damage. */
  readonly finds: RegExp | null;
}

const columns = ['part', 'stream', 'seq', 'sha256', 'batch', 'head_checksum', 'batch_checksum'] as const;

const ofRows: Readonly<Record<string, (db: DatabaseSync, positions: readonly number[], random: Random) => void>> = {
  'a bit flipped': (db, positions, random) => {
    const column = oneOf(columns, random);
    const [position] = positions;
    const value = db.prepare(`select ${column} as value from log where position = ?`).get(position ?? 0)?.['value'];
    db.prepare(`update log set ${column} = ? where position = ?`).run(flipped(value ?? null, random), position ?? 0);
  },
  'a row removed': (db, [position]) => void db.prepare('delete from log where position = ?').run(position ?? 0),
  'two rows removed': (db, positions) => {
    for (const position of positions) db.prepare('delete from log where position = ?').run(position);
  },
  'batches exchanged': (db, [first, second]) => exchange(db, ['batch'], first, second),
  'batches and checksums exchanged': (db, [first, second]) =>
    exchange(db, ['batch', 'head_checksum', 'batch_checksum'], first, second),
  'rows exchanged': (db, [first, second]) => exchange(db, columns, first, second),
  'a batch cut': (db, [position], random) => {
    const cut = Math.floor(random(0, 100));
    db.prepare('update log set batch = cast(substr(batch, 1, ?) as blob) where position = ?').run(cut, position ?? 0);
  },
};

const tails = ['ingest.sqlite-wal', 'meta.sqlite-wal'] as const;

export const logDamages: readonly string[] = [
  ...Object.keys(ofRows),
  ...tails.flatMap((name) => [`${name} cut`, `${name} with a bit flipped`]),
];

/** @param unsealed positions whose readings are only in the log */
export async function damageLog(
  directory: string,
  kind: string,
  unsealed: readonly number[],
  random: Random,
): Promise<LogDamage> {
  const tail = tails.find((name) => kind.startsWith(name));
  if (tail !== undefined) return damageTail(join(directory, tail), kind, random);
  const first = oneOf(unsealed, random);
  const second = oneOf(
    unsealed.filter((each) => each !== first),
    random,
  );
  using db = new DatabaseSync(join(directory, 'ingest.sqlite'));
  ofRows[kind]?.(db, [first, second], random);
  return {
    what: `ingest log: ${kind} at ${first}, ${second}`,
    finds: new RegExp(`ingest log.*position.*${first}|positions`),
  };
}

async function damageTail(file: string, kind: string, random: Random): Promise<LogDamage> {
  if (!existsSync(file)) throw new Error(`expected ${file} of a cloud that was killed, found none`);
  const bytes = await readFile(file);
  const at = Math.floor(random(0, bytes.length));
  if (kind.endsWith('cut')) await truncate(file, at);
  else {
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random(0, 8)));
    await writeFile(file, bytes);
  }
  return { what: `${kind} at ${at} of ${bytes.length}`, finds: null };
}

function exchange(db: DatabaseSync, names: readonly string[], first = 0, second = 0): void {
  const select = db.prepare(`select ${names.join(', ')} from log where position = ?`);
  const [one, other] = [select.get(first) ?? {}, select.get(second) ?? {}];
  const update = db.prepare(`update log set ${names.map((name) => `${name} = ?`).join(', ')} where position = ?`);
  update.run(...names.map((name) => other[name] ?? null), first);
  update.run(...names.map((name) => one[name] ?? null), second);
}

function flipped(value: SQLInputValue, random: Random): SQLInputValue {
  if (typeof value === 'number') return value ^ (1 << Math.floor(random(0, 30)));
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from((value as Uint8Array | null) ?? []);
  const at = Math.floor(random(0, bytes.length));
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return typeof value === 'string' ? bytes.toString() : new Uint8Array(bytes);
}
