import { readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { create } from '@bufbuild/protobuf';
import { captureFileBytes } from '@platform/capture-file';
import { DataCaptureMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { recordSyscalls, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';

const recoverModule = fileURLToPath(new URL('./recover.ts', import.meta.url));

test('I14 C9 a file that an earlier process left open, whose sync may have failed, is written once more before it is synced and sealed', async () => {
  await using data = await temporaryDirectory();
  await using other = await temporaryDirectory();
  const header = create(CaptureFileHeaderSchema, {
    metadata: create(DataCaptureMetadataSchema, { componentName: 's', methodName: 'Readings' }),
    stream: new Uint8Array(16),
    seq: 1n,
  });
  const bytes = captureFileBytes(header, [new Uint8Array([8, 1]), new Uint8Array([8, 2])]);
  await writeFile(data.file('a.prog'), bytes);
  await writeFile(
    other.file('run.mjs'),
    `import { silentLog, systemClock } from ${JSON.stringify(import.meta.resolve('@platform/base'))};
     import { recoverFile } from ${JSON.stringify(recoverModule)};
     const directory = ${JSON.stringify(data.path)};
     await recoverFile(directory + '/a.prog', directory, { clock: systemClock, log: silentLog });`,
  );
  const calls = await recordSyscalls({
    command: process.execPath,
    args: ['--conditions=@platform/source', other.file('run.mjs')],
    ...{ directory: data.path, traceFile: other.file('trace') },
  });
  const kinds = calls.map(({ kind }) => kind);
  expect(kinds).toEqual(['write', 'sync', 'rename', 'sync']);
  const [written] = calls;
  expect(written?.kind === 'write' && Buffer.from(written.bytes).equals(bytes)).toBe(true);
  expect(await readdir(data.path)).toHaveLength(1);
});
