import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { failingCalls, spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { blockBytes, checksumFile } from './checksum-file.ts';

const childFile = fileURLToPath(new URL('../../testing/verify-child.ts', import.meta.url));

/** The outcomes of three queries, the first of which cannot do this with the file. */
async function outcomesAfter(call: string): Promise<readonly unknown[]> {
  await using directory = await temporaryDirectory();
  const file = '2026-05-17-a.parquet';
  const path = directory.file(file);
  const bytes = randomBytes(3 * blockBytes);
  bytes.writeUInt32LE(2_000, bytes.length - 8);
  await writeFile(path, bytes);
  const ref = { file, format: 2, captureDay: '2026-05-17', expected: await checksumFile(path) };
  const [command = '', ...failing] = failingCalls({ path, calls: [call], error: 'EIO', when: '1' });
  const args = ['--conditions=@platform/source', childFile, directory.path, JSON.stringify(ref)];
  await using child = spawnChild(command, [...failing, process.execPath, ...args], {
    env: { UV_THREADPOOL_SIZE: '1' },
  });
  expect(await child.exited, child.stderr).toMatchObject({ code: 0 });
  return child.lines.map(({ outcome }) => outcome);
}

test('D33 a sealed file that could not be opened once is checked again by the next query', async () => {
  expect(await outcomesAfter('openat')).toEqual(['data_loss', 'right', 'right']);
});

test('D33 a sealed file that could not be read once is checked again by the next query', async () => {
  expect(await outcomesAfter('pread64')).toEqual(['data_loss', 'right', 'right']);
});
