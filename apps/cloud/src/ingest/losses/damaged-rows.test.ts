import { DatabaseSync } from 'node:sqlite';
import { silentLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { Manifest } from '../../backup/manifest.ts';
import { resumePosition } from '../../backup/resume-after-restore.ts';
import { defaultStore } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import type { LogRow } from '../log/log.ts';
import { openIngestLog } from '../log/open-ingest-log.ts';
import { openTestLog } from '../testing/open-log.ts';
import { testEntry } from '../testing/test-entry.ts';

const all = { rows: 100, bytes: 1e8 };
/** An SQL expression for bytes that both stores understand. */
const bytes = "cast('other' as %)";

/** Formats rows as `2: ok`, or `2–3 of p: reason`. */
function told(rows: readonly LogRow[]): string[] {
  return rows.map(({ position, partId, batch, damage }) =>
    damage === undefined
      ? `${position} of ${partId}: ${Buffer.from(batch).toString()}`
      : `${damage.first}–${damage.last} of ${damage.parts?.join() ?? '?'}: ${damage.reason}`,
  );
}

const own = { a: { partId: 'a' }, b: { partId: 'b' }, c: { partId: 'c' } };

async function threeRows() {
  const on = await openTestLog();
  for (const [index, more] of [own.a, own.b, own.c].entries())
    await on.log.append(testEntry(index + 1, `content ${index + 1}`, more));
  return on;
}

const first = '1 of a: content 1';
const last = '3 of c: content 3';
const place = 'its part, stream, number or hash differs from what was written';
const damages: Readonly<Record<string, { readonly by: string; readonly second: string }>> = {
  'another batch': { by: `batch = ${bytes}`, second: '2–2 of b: its contents differ from what was written' },
  'an empty batch': { by: `batch = cast('' as %)`, second: '2–2 of b: its contents differ from what was written' },
  'the batch of its neighbour': {
    by: 'batch = (select batch from log where position = 1)',
    second: '2–2 of b: its contents differ from what was written',
  },
  'the batch and checksum of its neighbour': {
    by: 'batch = (select batch from log where position = 1), batch_checksum = (select batch_checksum from log where position = 1)',
    second: '2–2 of b: its contents differ from what was written',
  },
  'another part': { by: `part = 'a'`, second: `2–2 of ?: ${place}` },
  'another stream': { by: `stream = ${bytes}`, second: `2–2 of ?: ${place}` },
  'another number': { by: 'seq = 9', second: `2–2 of ?: ${place}` },
  'another hash': { by: `sha256 = ${bytes}`, second: `2–2 of ?: ${place}` },
  'another checksum': { by: 'head_checksum = 1', second: `2–2 of ?: ${place}` },
};

for (const [name, { by, second }] of Object.entries(damages))
  test(`D33 a row of the log with ${name} is reported as damaged, and its neighbours are read`, async () => {
    await using on = await threeRows();
    await on.damage(
      `update log set ${by.replace('%', defaultStore === 'postgres' ? 'bytea' : 'blob')} where position = 2`,
    );
    expect(told(await on.log.read(0, all))).toEqual([first, second, last]);
    expect(told(await on.log.follow(0, all))).toEqual([first, second, last]);
  });

test('D33 missing rows are reported to followers of the log: in the middle, at the start, at the end, and all of them', async () => {
  await using on = await threeRows();
  await on.damage('delete from log where position = 2');
  expect(told(await on.log.follow(0, all))).toEqual([first, '2–2 of b: the row is missing', last]);
  expect(told(await on.log.follow(1, all))).toEqual(['2–2 of b: the row is missing', last]);
  expect(told(await on.log.follow(2, all))).toEqual([last]);
  await on.damage('delete from log where position = 3');
  expect(told(await on.log.follow(1, all))).toEqual(['2–3 of b,c: 2 rows are missing']);
  expect(told(await on.log.follow(3, all))).toEqual([]);
  await on.damage('delete from dedup where position = 2');
  expect(told(await on.log.follow(0, all))).toEqual([first]);
  expect(told(await on.log.follow(1, all))).toEqual(['2–3 of ?: 2 rows are missing']);
  await on.damage('delete from log');
  expect(told(await on.log.follow(0, all))).toEqual(['1–3 of ?: 3 rows are missing']);
  await on.log.append(testEntry(4, 'content 4', own.a));
  expect(told(await on.log.follow(0, all))).toEqual(['1–3 of ?: 3 rows are missing', '4 of a: content 4']);
});

test('D33 positions skipped by a restored log do not count as missing', async () => {
  await using on = await threeRows();
  const position = resumePosition({ lastPosition: 3 } as Manifest);
  const empty = { stream: new Uint8Array(16), seq: 0, sha256: new Uint8Array(32), batch: Buffer.from('empty') };
  await on.log.restoreRow({ position, partId: '', ...empty });
  await on.reopen();
  expect(told(await on.log.follow(2, all))).toEqual([last, `${position} of : empty`]);
  await on.damage('delete from log where position = 3');
  expect(told(await on.log.follow(2, all))).toEqual(['3–3 of c: the row is missing', `${position} of : empty`]);
});

test('D33 a loss survives restarts, and the rest of the row survives truncation, until a person accepts the loss', async () => {
  await using on = await threeRows();
  await on.damage('update log set seq = 9 where position = 2');
  for (let time = 0; time < 2; time++)
    for (const { damage } of await on.log.follow(0, all)) if (damage) await on.log.recordLoss('readings', damage);
  const loss = { lossIn: 'readings', first: 2, last: 2, parts: null, acceptedMs: null };
  expect(on.log.losses()).toMatchObject([loss]);
  await on.reopen();
  expect(on.log.losses()).toMatchObject([loss]);
  expect(await on.log.truncate(3, 10)).toBe(2);
  expect((await on.log.damaged()).map(({ position }) => position)).toEqual([2]);
  expect(await on.log.acceptLosses()).toBe(1);
  expect(await on.log.acceptLosses()).toBe(0);
  await on.reopen();
  await on.log.recordLoss('readings', { first: 2, last: 2, parts: null, reason: 'found again' });
  expect(on.log.losses().map(({ acceptedMs }) => acceptedMs !== null)).toEqual([true]);
  expect([await on.log.damaged(), await on.log.truncate(3, 10)]).toEqual([[], 1]);
});

test('I3 a log continues after an unknown position, also after a restart, and after its own rows and dedup entries', async () => {
  await using on = await threeRows();
  await on.log.resumeAfter(7);
  expect(on.log.lastPosition()).toBe(7);
  await on.reopen();
  expect((await on.log.append(testEntry(4, 'content 4', own.a))).position).toBe(8);
  expect(told(await on.log.follow(2, all))).toEqual([last, '4–7 of ?: 4 rows are missing', '8 of a: content 4']);
  expect((await on.log.append(testEntry(1, 'content 1', own.a))).outcome).toBe('repeated');
});

test('I3 a file whose sequence was lost continues after its last row and dedup entry', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('ingest.sqlite');
  const open = () => openIngestLog({ onFatal: throwUncaught, file, log: silentLog, clock: systemClock });
  {
    await using log = await open();
    for (const seq of [1, 2, 3]) await log.append(testEntry(seq));
  }
  {
    using db = new DatabaseSync(file);
    db.exec("delete from sqlite_sequence where name = 'log'; delete from log where position = 3");
  }
  await using log = await open();
  expect(log.lastPosition()).toBe(3);
  expect((await log.append(testEntry(4))).position).toBe(4);
});
