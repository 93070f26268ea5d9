import { PlatformError, silentLog, systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import type { FileRef } from '../process/messages.ts';
import { createFileUpgrade } from './upgrade-files.ts';

const days = ['2026-05-03', '2026-05-02', '2026-05-01'];
const forever = new AbortController().signal;

/** Three files; the test decides how each attempt ends. */
function given() {
  let listed: FileRef[] = days.map((captureDay) => ({ file: `${captureDay}.parquet`, format: 1, captureDay }));
  const attempts: { readonly file: string; end(outcome: 'replaced' | 'failed'): void }[] = [];
  const upgrade = createFileUpgrade({
    catalog: { olderFiles: async () => listed },
    compaction: {
      upgrade: ({ file }) =>
        new Promise((resolve) =>
          attempts.push({
            file,
            end(outcome) {
              if (outcome === 'replaced') listed = listed.filter((each) => each.file !== file);
              resolve(outcome);
            },
          }),
        ),
    },
    clock: systemClock,
    log: silentLog,
  });
  return { upgrade, attempts };
}

test('files that a query waits for are upgraded first, then the newest days, and failed files last', async () => {
  const { upgrade, attempts } = given();
  await upgrade.start();
  await expect.poll(() => attempts.length).toBe(1);
  const answered = upgrade.replaced(['2026-05-01.parquet'], forever);
  attempts[0]?.end('failed');
  await expect.poll(() => attempts.length).toBe(2);
  attempts[1]?.end('replaced');
  await answered;
  await expect.poll(() => attempts.length).toBe(3);
  attempts[2]?.end('replaced');
  await expect.poll(() => attempts.length).toBe(4);
  attempts[3]?.end('replaced');
  expect(attempts.map(({ file }) => file.slice(0, 10))).toEqual([
    '2026-05-03',
    '2026-05-01',
    '2026-05-02',
    '2026-05-03',
  ]);
  await upgrade.replaced(
    days.map((day) => `${day}.parquet`),
    forever,
  );
  await upgrade[Symbol.asyncDispose]();
});

test('a query that times out before its files are upgraded reports the days it waits for and the progress', async () => {
  const { upgrade, attempts } = given();
  await upgrade.start();
  await expect.poll(() => attempts.length).toBe(1);
  attempts[0]?.end('replaced');
  await expect.poll(() => attempts.length).toBe(2);
  const names = days.map((day) => `${day}.parquet`);
  const late = AbortSignal.abort(new PlatformError('deadline_exceeded', 'late'));
  await expect(upgrade.replaced(names, late)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/2026-05-01 to 2026-05-02 in 2 files .*1 of 3/),
  });
  const canceled = AbortSignal.abort(new PlatformError('canceled', 'gone'));
  await expect(upgrade.replaced(names, canceled)).rejects.toMatchObject({ code: 'canceled' });
  const stopped = upgrade[Symbol.asyncDispose]();
  attempts[1]?.end('failed');
  await stopped;
});
