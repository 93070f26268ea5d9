import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { failingCalls, spawnChild, temporaryDirectory } from '@platform/testkit';
import { describe, expect, test } from 'vitest';
import type { AppendPlan } from '../../ingest/testing/append-child.ts';
import { openWritable } from './sqlite-file.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const plan: AppendPlan = {
  ...{ stream: '00112233445566778899aabbccddeeff', firstSeq: 1, appends: 3 },
  ...{ parallel: 1, batchBytes: 100, truncateEvery: 0 },
};

describe.each([
  { store: 'metadata', child: fileOf('../testing/write-child.ts'), args: ['1', '3'] },
  { store: 'ingest log', child: fileOf('../../ingest/testing/append-child.ts'), args: [JSON.stringify(plan)] },
])('$store', ({ child, args }) => {
  test.each([
    { failure: 'the write-ahead log cannot be read', suffix: '-wal', calls: ['pread64'] },
    { failure: 'the write-ahead log cannot be written again', suffix: '-wal', calls: ['pwrite64'] },
    { failure: 'the sync of the write-ahead log fails', suffix: '-wal', calls: ['fsync'] },
    { failure: 'the frames cannot be copied', suffix: '', calls: ['pwrite64'] },
    { failure: 'the sync of the file fails', suffix: '', calls: ['fsync', 'fdatasync'] },
  ])('I14 if $failure, the start ends with this reason, and acknowledges nothing', async ({ suffix, calls }) => {
    await using directory = await temporaryDirectory();
    const file = directory.file('store.sqlite');
    leaveFrames(directory.file('earlier.sqlite'), file);
    const [strace = '', ...failing] = failingCalls({ path: `${file}${suffix}`, calls, error: 'EIO' });
    const command = [...failing, process.execPath, '--conditions=@platform/source', child, file, ...args];
    await using start = spawnChild(strace, command);
    const { code } = await start.exited;
    expect(code).not.toBe(0);
    expect(start.lines).toEqual([]);
    expect(start.stderr).toMatch(
      /what the last run wrote cannot be made durable: .*(EIO|disk I\/O error).*check the disk/s,
    );
  });
});

/** As a killed process leaves a file: with a write-ahead log that is not copied. */
function leaveFrames(earlier: string, file: string): void {
  using db = openWritable(earlier);
  db.exec('create table left_over (text text); insert into left_over values (1)');
  for (const suffix of ['', '-wal']) copyFileSync(`${earlier}${suffix}`, `${file}${suffix}`);
  expect(readFileSync(`${file}-wal`).length).toBeGreaterThan(0);
}
