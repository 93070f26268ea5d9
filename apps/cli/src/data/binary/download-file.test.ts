import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type BinaryMetadata, PlatformError } from '@platform/sdk/cloud';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { downloadFile, nameOf } from './download-file.ts';

const content = Buffer.from(Array.from({ length: 100 }, (_, at) => at));
const file = { binaryDataId: 'f1', fileName: 'a.png', fileExt: '.png', fileSizeBytes: 100n } as BinaryMetadata;

/** Ends with an error after this many bytes. */
function cloudWith(most: number) {
  const asked: number[] = [];
  return {
    asked,
    openFile: async (_id: string, fromByte = 0) => {
      asked.push(fromByte);
      async function* chunks(): AsyncGenerator<Uint8Array> {
        for (let at = fromByte; at < 100; at += 10) {
          if (at - fromByte >= most) throw new PlatformError('unavailable', 'broke off');
          yield content.subarray(at, at + 10);
        }
      }
      return { fromByte, totalBytes: 100, chunks: chunks() };
    },
  };
}

test('an interrupted download is resumed; complete files are skipped', async () => {
  await using directory = await temporaryDirectory('download-');
  await expect(downloadFile(cloudWith(30), file, directory.path)).rejects.toThrow('broke off');
  const again = cloudWith(100);
  expect(await downloadFile(again, file, directory.path)).toBe(70);
  expect(again.asked).toEqual([30]);
  expect(readFileSync(join(directory.path, 'f1-a.png'))).toEqual(content);
  expect(await downloadFile(again, file, directory.path)).toBeUndefined();
  // Longer than the file, so it cannot be the file's beginning.
  writeFileSync(join(directory.path, 'f1-a.png'), 'x');
  writeFileSync(join(directory.path, 'f1-a.png.partial'), Buffer.alloc(200));
  expect(await downloadFile(again, file, directory.path)).toBe(100);
  expect(readFileSync(join(directory.path, 'f1-a.png'))).toEqual(content);
});

test('an empty file is downloaded like any other', async () => {
  await using directory = await temporaryDirectory('download-');
  const empty = { ...file, fileName: 'empty', fileExt: '', fileSizeBytes: 0n };
  const openFile = async () => ({ fromByte: 0, totalBytes: 0, chunks: Readable.from([]) });
  expect(await downloadFile({ openFile }, empty, directory.path)).toBe(0);
  expect(readdirSync(directory.path)).toEqual(['f1-empty']);
  expect(await downloadFile({ openFile }, empty, directory.path)).toBeUndefined();
});

test('no file name escapes the directory, is hidden, or collides with another', () => {
  const named = (fileName: string, fileExt = '', binaryDataId = 'f1') => nameOf({ binaryDataId, fileName, fileExt });
  expect(named('../../etc/passwd')).toBe('f1-passwd');
  expect(named('..\\..\\x.png', '.png')).toBe('f1-x.png');
  expect(named('', '.jpg')).toBe('f1.jpg');
  expect(named('a\u001b[31m\n/..', '', '../f')).toBe('_._f-..');
  expect(named('bild ü', '.png')).toBe('f1-bild ü.png');
  expect(named('x'.repeat(500)).length).toBe(200);
  // File systems count bytes.
  expect(named('測'.repeat(100))).toBe(`f1-${'測'.repeat(65)}`);
});
