import { createHash, randomBytes } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { silentLog, systemClock } from '@platform/base';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { storeKinds } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { openTestLog } from '../testing/open-log.ts';
import { testEntry } from '../testing/test-entry.ts';
import type { IngestLog, LogEntry } from './log.ts';
import { openIngestLog } from './open-ingest-log.ts';

const all = { rows: 100_000, bytes: 2 ** 30 };

describe.each(storeKinds)('the ingest log in %s', (kind) => {
  test('I1 an upload is stored as one row with exactly its bytes, also after a restart', async () => {
    await using opened = await openTestLog(systemClock, kind);
    const batch = crypto.getRandomValues(new Uint8Array(60_000));
    const pooled = Buffer.from(batch);
    await opened.log.append(testEntry(1, 'one', { batch: pooled.subarray(10, 50_000) }));
    pooled.fill(0);

    await opened.reopen();
    const rows = await opened.log.read(0, all);
    expect(rows.map(({ position, partId }) => ({ position, partId }))).toEqual([{ position: 1, partId: 'p' }]);
    expect(Buffer.compare(rows[0]?.batch ?? new Uint8Array(), batch.subarray(10, 50_000))).toBe(0);
  });

  test('I3 positions increase in commit order, are read as a prefix, and are never reused after truncation', async () => {
    await using opened = await openTestLog(systemClock, kind);
    const seen: number[] = [];
    const reads: Promise<void>[] = [];
    using _ = opened.log.onCommit((position) => {
      seen.push(position);
      reads.push(
        opened.log.read(0, all).then((found) => {
          const rows = found.map((row) => row.position);
          // A concurrent reader sees every position up to the last one.
          expect(rows).toEqual(rows.map((_, index) => index + 1));
          expect(rows.length).toBeGreaterThanOrEqual(position);
        }),
      );
    });
    await Promise.all(Array.from({ length: 300 }, (_, index) => opened.log.append(testEntry(index + 1))));
    await expect.poll(() => seen.at(-1)).toBe(300);
    await Promise.all(reads);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));

    expect(await opened.log.truncate(300, 1_000)).toBe(300);
    expect(await opened.log.read(0, all)).toEqual([]);
    expect(opened.log.lastPosition()).toBe(300);
    await opened.reopen();
    expect(opened.log.lastPosition()).toBe(300);
    expect(await opened.log.append(testEntry(301))).toMatchObject({ position: 301 });
  });

  test('D13 an upload that replaces a deleted copy is stored once, and recognised from then on', async () => {
    await using opened = await openTestLog(systemClock, kind);
    const entry = (fileId: string, replaces?: number): LogEntry => ({
      ...testEntry(0, 'same', { fileId, settleUntil: 1_000 }),
      ...(replaces !== undefined && { replaces }),
    });
    await opened.log.append(entry('first'));
    expect(await opened.log.append(entry('second'))).toEqual({
      outcome: 'repeated',
      position: 1,
      fileId: 'first',
      settleUntil: 1_000,
    });
    // All at once; a different position is no reason to store an upload again.
    const answers = await Promise.all(
      [1, 1, 7].map((position, at) => opened.log.append(entry(`again-${at}`, position))),
    );
    expect(answers.map(({ outcome }) => outcome)).toEqual(['appended', 'repeated', 'repeated']);
    expect(answers.map(({ position, fileId }) => [position, fileId])).toEqual(Array(3).fill([2, 'again-0']));
    await opened.reopen();
    expect(await opened.log.append(entry('late', 1))).toMatchObject({ outcome: 'repeated', position: 2 });
    expect(await opened.log.read(0, all)).toHaveLength(2);
  });

  test('I5 eight concurrent copies of one upload leave one row and get one answer', async () => {
    await using opened = await openTestLog(systemClock, kind);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, copy) => opened.log.append(testEntry(1, 'same', { fileId: `try-${copy}` }))),
    );
    expect(await opened.log.read(0, all)).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === 'appended')).toHaveLength(1);
    expect(new Set(answers.map(({ position, fileId }) => `${position} ${fileId}`)).size).toBe(1);
  });

  test('I5 another upload under the same key is ALREADY_EXISTS and kept aside, and the first copy stays unchanged', async () => {
    await using opened = await openTestLog(systemClock, kind);
    const first = await opened.log.append(testEntry(1, 'first'));
    const other = opened.log.append(testEntry(1, 'other', { blobPath: 'a/b' }));
    await expect(other).rejects.toMatchObject({ code: 'already_exists' });

    expect(await opened.log.append(testEntry(1, 'first'))).toMatchObject({ ...first, outcome: 'repeated' });
    expect((await opened.log.read(0, all)).map(({ batch }) => Buffer.from(batch).toString())).toEqual(['first']);
    expect(await opened.log.hasBlob('a/b')).toBe(true);
    const kept = await opened.rows('select seq, batch from conflicts');
    expect(kept.map(({ seq, batch }) => [Number(seq), Buffer.from(batch as Uint8Array).toString()])).toEqual([
      [1, 'other'],
    ]);
  });

  test('a forgotten blob no longer belongs to any upload, and the others stay', async () => {
    await using opened = await openTestLog(systemClock, kind);
    for (const seq of [1, 2, 3]) await opened.log.append(testEntry(seq, undefined, { blobPath: `day/${seq}` }));
    await opened.log.forgetBlobs([]);
    await opened.log.forgetBlobs(['day/1', 'day/3', 'day/never']);
    const known = await Promise.all([1, 2, 3].map((seq) => opened.log.hasBlob(`day/${seq}`)));
    expect(known).toEqual([false, true, false]);
    expect(await opened.log.read(0, all)).toHaveLength(3);
  });

  test('I5 one upload that cannot be stored does not fail the others', async () => {
    await using opened = await openTestLog(systemClock, kind);
    const good = [1, 2, 3].map((seq) => opened.log.append(testEntry(seq)));
    const bad = opened.log.append(testEntry(4, 'bad', { fileId: null as unknown as string }));
    const more = [5, 6].map((seq) => opened.log.append(testEntry(seq)));
    await expect(bad).rejects.toMatchObject({ code: 'already_exists' });
    await Promise.all([...good, ...more]);
    expect(await opened.log.read(0, all)).toHaveLength(5);
  });

  test('I6 a stored low-water mark never falls, settles the uploads below it, and keeps the dedup table small', async () => {
    await using opened = await openTestLog(systemClock, kind);
    for (let seq = 1; seq <= 50; seq++) await opened.log.append(testEntry(seq, undefined, { lowWaterMark: seq }));
    expect(await opened.log.append(testEntry(49))).toEqual({ outcome: 'settled', position: null, fileId: 'file-49' });
    await opened.log.append(testEntry(51, undefined, { lowWaterMark: 3 }));
    expect(await opened.log.append(testEntry(49))).toMatchObject({ outcome: 'settled' });
    expect(await opened.log.append(testEntry(50))).toMatchObject({ outcome: 'repeated', position: 50 });
    // Other streams, and the same stream of another part, are independent.
    expect(await opened.log.append(testEntry(1, 'x', { stream: new Uint8Array(16) }))).toMatchObject({ position: 52 });
    expect(await opened.log.append(testEntry(1, 'x', { partId: 'q' }))).toMatchObject({ position: 53 });
    expect(await opened.rows('select seq from dedup')).toHaveLength(4);
  });

  test('I5 I6 the log behaves like its model for any sequence of uploads, repeats, races and restarts', async () => {
    const seqs = fc.integer({ min: 1, max: 6 });
    const step = fc.oneof(
      {
        weight: 30,
        arbitrary: fc.record({
          stream: fc.integer({ min: 0, max: 1 }),
          seq: seqs,
          lowWaterMark: seqs,
          content: fc.integer({ min: 0, max: 1 }),
        }),
      },
      { weight: 1, arbitrary: fc.constant('restart' as const) },
      { weight: 1, arbitrary: fc.constant('truncate' as const) },
    );
    await using opened = await openTestLog(systemClock, kind);
    let part = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        // A separate part for each run, so that all runs can share one file.
        const partId = `part ${++part}`;
        const model = new Model(opened.log.lastPosition());
        for (const taken of steps) {
          if (taken === 'restart') await opened.reopen();
          else if (taken === 'truncate') await opened.log.truncate(model.last - 1, 2);
          else {
            const { stream, seq, content } = taken;
            const lowWaterMark = Math.min(taken.lowWaterMark, seq);
            const more = { partId, lowWaterMark, stream: new Uint8Array(16).fill(stream) };
            const entry = testEntry(seq, `${stream}/${seq}/${content}`, more);
            expect(await outcomeOf(opened.log, entry)).toEqual(model.append(stream, seq, lowWaterMark, content));
          }
          expect(opened.log.lastPosition()).toBe(model.last);
        }
      }),
      { numRuns: 25 },
    );
  });

  class Model {
    last: number;
    readonly #lowWaterMarks = new Map<number, number>();
    readonly #known = new Map<string, { content: number; position: number }>();

    constructor(last: number) {
      this.last = last;
    }

    append(stream: number, seq: number, lowWaterMark: number, content: number): string {
      const stored = Math.max(lowWaterMark, this.#lowWaterMarks.get(stream) ?? 0);
      this.#lowWaterMarks.set(stream, stored);
      if (seq < stored) return 'settled';
      const known = this.#known.get(`${stream}/${seq}`);
      if (!known) {
        this.last++;
        this.#known.set(`${stream}/${seq}`, { content, position: this.last });
        return `appended ${this.last}`;
      }
      return known.content === content ? `repeated ${known.position}` : 'already_exists';
    }
  }

  async function outcomeOf(log: IngestLog, entry: LogEntry): Promise<string> {
    try {
      const { outcome, position } = await log.append(entry);
      return position === null ? outcome : `${outcome} ${position}`;
    } catch (caught) {
      return (caught as { code: string }).code;
    }
  }

  test("I13 truncation leaves space for new uploads in the log's file, which then does not grow", async () => {
    await using opened = await openTestLog(systemClock, kind);
    const fill = async (from: number): Promise<void> => {
      for (let seq = from; seq < from + 40; seq++)
        await opened.log.append(testEntry(seq, String(seq), { batch: randomBytes(100_000) }));
    };
    await fill(1);
    const none = await opened.log.reusableBytes();
    while ((await opened.log.truncate(40, 100)) > 0);
    const freed = await opened.log.reusableBytes();
    await fill(41);
    const left = await opened.log.reusableBytes();
    const [least, most] = kind === 'sqlite' ? [4_000_000, 5_000_000] : [0, 0];
    expect(none).toBe(0);
    expect(freed).toBeGreaterThanOrEqual(least);
    expect(freed).toBeLessThanOrEqual(most);
    expect(left).toBeLessThanOrEqual(kind === 'sqlite' ? 100_000 : 0);
  });

  test('I8 I12 truncation runs in bounded batches up to the given position and leaves damaged rows', async () => {
    await using opened = await openTestLog(systemClock, kind);
    for (let seq = 1; seq <= 10; seq++) await opened.log.append(testEntry(seq));
    await opened.log.markDamaged(3, 'unreadable');
    expect(await opened.log.truncate(8, 4)).toBe(4);
    expect((await opened.log.read(0, all)).map(({ position }) => position)).toEqual([3, 6, 7, 8, 9, 10]);
    expect(await opened.log.truncate(8, 100)).toBe(3);
    expect(await opened.log.truncate(8, 100)).toBe(0);
    expect((await opened.log.read(0, all)).map(({ position }) => position)).toEqual([3, 9, 10]);
    expect(await opened.log.damaged()).toEqual([{ position: 3, reason: 'unreadable' }]);
    const left = (await opened.log.read(0, all)).reduce((bytes, { batch }) => bytes + batch.length, 0);
    expect(opened.log.retainedBytes()).toBe(left);
    await opened.reopen();
    expect(opened.log.retainedBytes()).toBe(left);
    expect(await opened.log.append(testEntry(5))).toMatchObject({ outcome: 'repeated', position: 5 });
  });

  test('D13 an anonymous upload is recognised for seven days and forgotten some time later', async () => {
    const clock = new FakeClock();
    await using opened = await openTestLog(clock, kind);
    const hash = createHash('sha256').update('anonymous').digest();
    const day = 24 * 3_600_000;
    const anonymous = (): LogEntry =>
      testEntry(0, 'anonymous', { stream: hash, settleUntil: clock.now() + 7 * day, fileId: `at-${clock.now()}` });
    const first = await opened.log.append(anonymous());
    clock.setWall(clock.now() + 7 * day - 1);
    await clock.advance(0);
    expect(await opened.log.append(anonymous())).toMatchObject({ ...first, outcome: 'repeated' });
    clock.setWall(clock.now() + 2);
    await clock.advance(60_000);
    expect(await opened.log.append(anonymous())).toMatchObject({ outcome: 'appended', position: 2 });
  });

  test('a read is limited in rows and bytes, but returns at least one row if there is one', async () => {
    await using opened = await openTestLog(systemClock, kind);
    for (let seq = 1; seq <= 5; seq++) await opened.log.append(testEntry(seq, 'x'.repeat(100) + seq));
    expect((await opened.log.read(1, { rows: 2, bytes: 10_000 })).map(({ position }) => position)).toEqual([2, 3]);
    expect((await opened.log.read(0, { rows: 9, bytes: 250 })).map(({ position }) => position)).toEqual([1, 2]);
    expect((await opened.log.read(2, { rows: 9, bytes: 1 })).map(({ position }) => position)).toEqual([3]);
    expect(await opened.log.read(5, { rows: 9, bytes: 250 })).toEqual([]);
  });

  test('a closed log refuses appends and has answered all earlier ones', async () => {
    await using opened = await openTestLog(systemClock, kind);
    const { log } = opened;
    const pending = Array.from({ length: 50 }, (_, index) => log.append(testEntry(index + 1)));
    await log[Symbol.asyncDispose]();
    expect(await Promise.all(pending)).toHaveLength(50);
    await expect(log.append(testEntry(51))).rejects.toMatchObject({ code: 'unavailable' });
  });
});

test('a file that is not a database, or has a newer version, is refused by name and left unchanged', async () => {
  await using directory = await temporaryDirectory();
  const open = (file: string): Promise<IngestLog> =>
    openIngestLog({ onFatal: throwUncaught, file, log: silentLog, clock: systemClock });
  await writeFile(directory.file('text'), 'x'.repeat(5_000));
  await expect(open(directory.file('text'))).rejects.toMatchObject({ code: 'failed_precondition' });
  const newer = new DatabaseSync(directory.file('newer'));
  newer.exec('pragma user_version = 104');
  newer.close();
  await expect(open(directory.file('newer'))).rejects.toThrow(
    /version 104, but this version supports only versions up to 103/,
  );
});

test('the write-ahead log is checkpointed while no upload waits, before a commit would have to do it', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('ingest.sqlite');
  const log = await openIngestLog({ onFatal: throwUncaught, file, log: silentLog, clock: systemClock });
  const batch = new Uint8Array(500_000).fill(1);
  for (let seq = 1; seq <= 40; seq++) await log.append(testEntry(seq, `${seq}`, { batch }));
  expect((await stat(`${file}-wal`)).size).toBeLessThan(6 << 20);
  expect((await stat(file)).size).toBeGreaterThan(12 << 20);
  await log[Symbol.asyncDispose]();
});
