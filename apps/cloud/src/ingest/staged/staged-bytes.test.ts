import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { recordSyscalls, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';

const bytesFile = fileURLToPath(new URL('./staged-bytes.ts', import.meta.url));

test('I14 the staged bytes of an earlier process, whose sync may have failed, are written once more before they are synced', async () => {
  await using data = await temporaryDirectory();
  await using other = await temporaryDirectory();
  const size = 1_500_000;
  await writeFile(data.file('a.part'), Buffer.alloc(size, 7));
  await writeFile(
    other.file('run.mjs'),
    `import { StagedBytes } from ${JSON.stringify(bytesFile)};
     // The thread that hashes does not keep a process running.
     setInterval(() => {}, 1_000);
     const bytes = new StagedBytes();
     await bytes.hashOf(${JSON.stringify(data.file('a.part'))}, ${size});
     await bytes.sync(${JSON.stringify(data.file('a.part'))});
     process.exit(0);`,
  );
  const calls = await recordSyscalls({
    command: process.execPath,
    args: ['--conditions=@platform/source', other.file('run.mjs')],
    ...{ directory: data.path, traceFile: other.file('trace') },
  });
  const synced = calls.findIndex(({ kind }) => kind === 'sync');
  expect(synced).toBeGreaterThan(0);
  const written = calls.slice(0, synced).flatMap((call) => (call.kind === 'write' ? [call.bytes.length] : []));
  expect(written.reduce((sum, length) => sum + length, 0)).toBe(size);
});
