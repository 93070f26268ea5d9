import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BinaryMetadata, PlatformError } from '@platform/sdk/cloud';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { downloadFiles } from './download-files.ts';

const files = ['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7'].map(
  (id) => ({ binaryDataId: id, fileName: '', fileExt: '.png', fileSizeBytes: 2n }) as BinaryMetadata,
);

function cloudWith(failing: Readonly<Record<string, PlatformError>>) {
  const asked: string[] = [];
  return {
    asked,
    openFile: async (id: string) => {
      asked.push(id);
      if (failing[id] !== undefined) throw failing[id];
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(id);
      }
      return { fromByte: 0, totalBytes: 2, chunks: chunks() };
    },
  };
}

test('files that are damaged or gone in the cloud are reported, the others are complete, and no damaged partial file is left', async () => {
  await using directory = await temporaryDirectory('download-');
  // Left by an earlier download of a file that is damaged now.
  writeFileSync(join(directory.path, 'f1.png.partial'), 'x');
  const cloud = cloudWith({
    f1: new PlatformError('data_loss', 'binary data f1: its stored file is damaged'),
    f6: new PlatformError('not_found', 'no such file'),
  });
  expect(await downloadFiles(cloud, files, directory.path)).toEqual({
    downloaded: 6,
    bytes: 12,
    failed: [
      { id: 'f1', reason: 'binary data f1: its stored file is damaged' },
      { id: 'f6', reason: 'no such file' },
    ],
  });
  expect(readdirSync(directory.path).toSorted()).toEqual(['f0', 'f2', 'f3', 'f4', 'f5', 'f7'].map((id) => `${id}.png`));
  expect(readFileSync(join(directory.path, 'f7.png'), 'utf8')).toBe('f7');
});

test('a file that the cloud finds damaged while sending is requested once more, then reported, and no part of it is left', async () => {
  await using directory = await temporaryDirectory('download-');
  const [first, second] = files as [BinaryMetadata, BinaryMetadata];
  const sound = cloudWith({});
  let isFound = false;
  const cloud = {
    openFile: async (id: string) => {
      if (id !== 'f0') return sound.openFile(id);
      if (isFound) throw new PlatformError('data_loss', 'its stored file is damaged');
      isFound = true;
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('f');
        throw new PlatformError('unavailable', 'broke off');
      }
      return { fromByte: 0, totalBytes: 2, chunks: chunks() };
    },
  };
  expect(await downloadFiles(cloud, [first, second], directory.path)).toMatchObject({
    downloaded: 1,
    failed: [{ id: 'f0', reason: 'its stored file is damaged' }],
  });
  expect(readdirSync(directory.path)).toEqual(['f1.png']);
});

test('an error that affects all files ends the whole download', async () => {
  await using directory = await temporaryDirectory('download-');
  const cloud = cloudWith({ f0: new PlatformError('permission_denied', 'expected the right to read') });
  await expect(downloadFiles(cloud, files, directory.path)).rejects.toMatchObject({
    code: 'permission_denied',
  });
  expect(cloud.asked).not.toContain('f7');
});
