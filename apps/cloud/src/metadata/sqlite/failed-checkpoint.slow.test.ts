import { fileURLToPath } from 'node:url';
import { failingCalls, spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { AppendPlan } from '../../ingest/testing/append-child.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const appends: AppendPlan = {
  stream: '00112233445566778899aabbccddeeff',
  appends: 400,
  parallel: 3,
  batchBytes: 40_000,
  truncateEvery: 0,
  firstSeq: 1,
};

test.each([
  ['metadata', fileOf('../testing/write-child.ts'), ['1', '600']],
  ['ingest log', fileOf('../../ingest/testing/append-child.ts'), [JSON.stringify(appends)]],
] as const)(
  'I2 %s: a failed sync of the file, while its write-ahead log is copied into it, ends the process',
  async (_name, child, args) => {
    await using directory = await temporaryDirectory();
    const path = directory.file('store.sqlite');
    // Creating the file syncs it twice; SQLite uses one of the two calls.
    const [strace = '', ...failing] = failingCalls({ path, calls: ['fsync', 'fdatasync'], error: 'EIO', when: '3+' });
    const command = [...failing, process.execPath, '--conditions=@platform/source', child, path, ...args];
    await using writer = spawnChild(strace, command);
    const { code } = await writer.exited;
    expect(code).not.toBe(0);
    expect(writer.stderr).toMatch(/must restart/);
    const acknowledged = writer.lines.filter(({ ack }) => ack !== undefined).length;
    expect(acknowledged).toBeGreaterThan(0);
    expect(acknowledged).toBeLessThan(400);
  },
);
