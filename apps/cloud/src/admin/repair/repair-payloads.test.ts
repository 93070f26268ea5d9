import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, copyFile, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { newManifest } from '../../backup/manifest.ts';
import { type OpenBinary, openBinary } from '../../binary/testing/open-binary.ts';
import { createVerifiedFiles } from '../../blobs/verified-files.ts';
import type { Backup } from './open-backup.ts';
import { repairPayloads } from './repair-payloads.ts';

async function open() {
  const on = await openBinary();
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const listedPayloads = async () =>
    (await on.db.selectFrom('binary_data').selectAll().execute()).map((row) => ({
      ...{ id: row.id, path: row.blob_path, sizeBytes: row.size_bytes, sha256: row.sha256 },
    }));
  const asked: string[] = [];
  const repair = (backup: Backup | undefined, apply = true) =>
    repairPayloads(
      {
        blobDirectory: on.blobDirectory,
        parquetDir: directory.file('parquet'),
        store: { listedPayloads, catalog: never, log: never },
        ask: async (operation, params) => void asked.push(`${operation} ${String(params['file'])}`),
        ...{ acceptLoss: false, apply, nowMs: 0, progress: () => {} },
      },
      backup,
    );
  return { on, repair, asked, backup: directory.file('backup'), pathOf: await pathsOf(on, listedPayloads) };
}

const never = async (): Promise<never> => {
  throw new Error('nobody asks for it');
};

async function pathsOf(on: OpenBinary, listed: () => Promise<readonly { id: string; path: string }[]>) {
  return async (id: string): Promise<string> => {
    await expect.poll(async () => (await on.ids()).includes(id)).toBe(true);
    return (await listed()).find((row) => row.id === id)?.path ?? '';
  };
}

async function backUp(on: OpenBinary, to: string, paths: readonly string[]): Promise<Backup> {
  for (const path of paths) {
    await mkdir(dirname(join(to, 'blobs', path)), { recursive: true });
    await copyFile(join(on.blobDirectory, path), join(to, 'blobs', path));
  }
  const manifest = newManifest({
    ...{ createdMs: 1, program: 'test', dataVersion: 100, metaVersion: 100, ingestVersion: 100, sealedPosition: 0 },
    ...{ lastPosition: 0, instanceKey: 'left-out', files: [] },
  });
  return { directory: to, manifest, hashes: new Map() };
}

test.each([
  ['changed', (file: string) => writeFile(file, 'another picture')],
  ['longer', (file: string) => appendFile(file, 'x')],
  ['cut', (file: string) => truncate(file, 3)],
  ['missing', (file: string) => rm(file)],
  ['missing with its folder', (file: string) => rm(dirname(file), { recursive: true })],
  ['a link', async (file: string) => [await rm(file), await symlink('/etc/passwd', file)]],
  ['a directory', async (file: string) => [await rm(file), await mkdir(file)]],
])('D33 a payload that is %s comes back out of a backup that has it as it was stored', async (_what, damage) => {
  const { on, repair, asked, backup: directory, pathOf } = await open();
  const path = await pathOf(await on.upload({ content: 'a picture' }));
  const file = join(on.blobDirectory, path);
  const sha256 = createHash('sha256').update('a picture').digest('hex');
  const backup = await backUp(on, directory, [path]);
  expect(await repair(backup)).toEqual([]);
  await damage(file);
  const what = `blobs/${path}`;
  expect(await repair(undefined)).toMatchObject([{ what, outcome: 'lost' }]);
  expect(await repair(backup, false)).toMatchObject([{ what, outcome: 'can be restored' }]);
  expect(asked).toEqual([]);
  expect(await repair(backup)).toMatchObject([{ what, outcome: 'restored', detail: `from ${directory}/${what}` }]);
  expect(asked).toEqual([`repair.restored ${what}`]);
  expect(await readFile(file, 'utf8')).toBe('a picture');
  await createVerifiedFiles(() => 0).open(file, { sizeBytes: 9, sha256 });
  expect(await repair(backup)).toEqual([]);
  expect(await readdir(join(on.blobDirectory, '.incoming'))).toEqual([]);
});

test('D33 a payload that is also damaged in the backup, or missing there, is not changed', async () => {
  const { on, repair, backup: directory, pathOf } = await open();
  const path = await pathOf(await on.upload({ content: 'a picture' }));
  const other = await pathOf(await on.upload({ content: 'another one' }));
  const backup = await backUp(on, directory, [path]);
  await writeFile(join(directory, 'blobs', path), 'a Picture');
  await writeFile(join(on.blobDirectory, path), 'A picture');
  await rm(join(on.blobDirectory, other));
  expect((await repair(backup)).map(({ outcome }) => outcome)).toEqual(['lost', 'lost']);
  expect(await readFile(join(on.blobDirectory, path), 'utf8')).toBe('A picture');
  expect(existsSync(join(on.blobDirectory, other))).toBe(false);
});
