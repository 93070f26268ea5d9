import { open } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { GroupWriter } from './group-writer.ts';
import { openWritable } from './sqlite-file.ts';
import type { WriterAnswer } from './writer-protocol.ts';

interface Bench {
  readonly writer: GroupWriter;
  readonly db: DatabaseSync;
  /** `ok`, or the kind of fault, by request id. */
  readonly answers: Map<number, string>;
  readonly fatal: string[];
}

function bench(db: DatabaseSync): Bench {
  db.exec('create table t (id integer primary key, text text not null)');
  return writerOf(db);
}

function writerOf(db: DatabaseSync, checkpoint = (): void => {}): Bench {
  const answers = new Map<number, string>();
  const fatal: string[] = [];
  const writer = new GroupWriter({
    db,
    answer: (given: readonly WriterAnswer[]) => {
      for (const answer of given) answers.set(answer.id, 'result' in answer ? 'ok' : answer.fault.kind);
    },
    fatal: (message) => fatal.push(message),
    checkpoint,
    monotonic: () => 0,
  });
  return { writer, db, answers, fatal };
}

/** SQLITE_IOERR_FSYNC, https://www.sqlite.org/rescode.html */
const ioFsync = 10 | (4 << 8);
const insert = 'insert into t (id, text) values (?, ?)';

test('I2 nothing is acknowledged before the commit of its group', async () => {
  await using directory = await temporaryDirectory();
  using db = openWritable(directory.file('t.sqlite'));
  const { writer, answers } = bench(db);
  writer.accept({ kind: 'run', id: 1, sql: insert, params: [1, 'one'] });
  writer.accept({ kind: 'begin', id: 2, tx: 1 });
  writer.accept({ kind: 'run', id: 3, sql: insert, params: [3, 'three'] });
  writer.pump();
  expect([...answers]).toEqual([[2, 'ok']]);
  writer.accept({ kind: 'step', id: 4, tx: 1, sql: insert, params: [2, 'two'] });
  writer.accept({ kind: 'commit', id: 5, tx: 1 });
  expect([...answers.keys()]).toEqual([2, 4]);
  writer.pump();
  expect([...answers]).toEqual([2, 4, 1, 5, 3].map((id) => [id, 'ok']));
  expect(db.isTransaction).toBe(false);
});

test('I2 a full disk fails the whole group that could not be committed, and only that group', async () => {
  await using directory = await temporaryDirectory();
  using db = openWritable(directory.file('t.sqlite'));
  const { writer, answers, fatal } = bench(db);
  db.exec(`pragma max_page_count = ${Number(db.prepare('pragma page_count').get()?.['page_count']) + 3}`);
  writer.accept({ kind: 'begin', id: 1, tx: 1 });
  writer.pump();
  writer.accept({ kind: 'step', id: 2, tx: 1, sql: insert, params: [1, 'x'.repeat(100_000)] });
  writer.accept({ kind: 'rollback', id: 3, tx: 1 });
  writer.accept({ kind: 'run', id: 4, sql: insert, params: [4, 'fits'] });
  writer.pump();
  expect(Object.fromEntries(answers)).toEqual({ 1: 'ok', 2: 'full', 3: 'ok', 4: 'ok' });
  expect(fatal).toEqual([]);
  expect(
    db
      .prepare('select id from t')
      .all()
      .map(({ id }) => id),
  ).toEqual([4]);
});

test('a transaction whose owner goes silent is rolled back, its owner gets an error, and the others continue', async () => {
  await using directory = await temporaryDirectory();
  using db = openWritable(directory.file('t.sqlite'));
  const { writer, answers } = bench(db);
  writer.accept({ kind: 'begin', id: 1, tx: 1 });
  writer.pump();
  writer.accept({ kind: 'step', id: 2, tx: 1, sql: insert, params: [1, 'lost'] });
  writer.accept({ kind: 'run', id: 3, sql: insert, params: [3, 'other'] });
  writer.pump();
  expect(answers.has(3)).toBe(false);
  writer.abandon('too slow');
  writer.pump();
  writer.accept({ kind: 'step', id: 4, tx: 1, sql: insert, params: [4, 'late'] });
  writer.accept({ kind: 'commit', id: 5, tx: 1 });
  writer.pump();
  expect(Object.fromEntries(answers)).toEqual({ 1: 'ok', 2: 'ok', 3: 'ok', 4: 'statement', 5: 'statement' });
  expect(
    db
      .prepare('select id from t')
      .all()
      .map(({ id }) => id),
  ).toEqual([3]);
});

test('I2 after a failure of the file nothing is acknowledged any more', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('t.sqlite');
  bench(openWritable(file)).db.close();
  // Overwrites the table's root page without SQLite noticing.
  const handle = await open(file, 'r+');
  await handle.write(new Uint8Array(4_096).fill(0xff), 0, 4_096, 4_096);
  await handle.close();

  using db = openWritable(file);
  const { writer, answers, fatal } = writerOf(db);
  writer.accept({ kind: 'run', id: 1, sql: insert, params: [100, 'never'] });
  writer.accept({ kind: 'run', id: 2, sql: 'select 1', params: [] });
  writer.pump();
  expect(fatal).toHaveLength(1);
  expect([...answers]).toEqual([]);
});

test('I2 a checkpoint that fails is fatal: the commit before it is answered, nothing after it', async () => {
  await using directory = await temporaryDirectory();
  using db = openWritable(directory.file('t.sqlite'));
  db.exec('create table t (id integer primary key, text text not null)');
  const { writer, answers, fatal } = writerOf(db, () => {
    throw Object.assign(new Error('disk I/O error'), { errcode: ioFsync });
  });
  writer.accept({ kind: 'run', id: 1, sql: insert, params: [1, 'committed before'] });
  writer.pump();
  expect(fatal).toEqual(['disk I/O error']);
  writer.accept({ kind: 'run', id: 2, sql: insert, params: [2, 'never'] });
  writer.pump();
  expect([...answers]).toEqual([[1, 'ok']]);
  expect(fatal).toHaveLength(1);
});
