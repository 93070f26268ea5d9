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

/** With the number of writes of each: the log is copied after some hundred of them. */
const stores = [
  { store: 'metadata', child: fileOf('../testing/write-child.ts'), args: ['1', '3000'], all: 3_000 },
  {
    store: 'ingest log',
    child: fileOf('../../ingest/testing/append-child.ts'),
    args: [JSON.stringify(appends)],
    all: appends.appends,
  },
] as const;
// Creating the file writes it once, and syncs it twice; SQLite uses one of the two calls.
const failures = [
  { failure: 'write', calls: ['pwrite64'], when: '2+' },
  { failure: 'sync', calls: ['fsync', 'fdatasync'], when: '3+' },
] as const;

test.each(stores.flatMap((store) => failures.map((failure) => ({ ...store, ...failure }))))(
  'I2 $store: a failed $failure of the file, while its write-ahead log is copied into it, ends the process',
  async ({ child, args, all, calls, when }) => {
    await using directory = await temporaryDirectory();
    const path = directory.file('store.sqlite');
    const [strace = '', ...failing] = failingCalls({ path, calls, error: 'EIO', when });
    const command = [...failing, process.execPath, '--conditions=@platform/source', child, path, ...args];
    await using writer = spawnChild(strace, command);
    const { code } = await writer.exited;
    expect(code).not.toBe(0);
    expect(writer.stderr).toMatch(/must restart/);
    const acknowledged = writer.lines.filter(({ ack }) => ack !== undefined).length;
    expect(acknowledged).toBeGreaterThan(0);
    expect(acknowledged).toBeLessThan(all);
  },
);
