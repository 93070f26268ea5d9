import { create } from '@bufbuild/protobuf';
import { BinaryMetadataSchema } from '@platform/proto/platform/app/data/v1/data';
import { expect, test } from 'vitest';
import { fileOf, sizeText } from './files.ts';

test('a stored picture has its name, size, place and a path on this cloud', () => {
  const file = fileOf(
    create(BinaryMetadataSchema, {
      binaryDataId: 'o/l/1',
      captureMetadata: { robotId: 'm', robotName: 'press', componentName: 'cam', mimeType: 'image/png', tags: ['ok'] },
      fileExt: '.png',
      uri: 'https://other.example/binary-data/1',
      fileSizeBytes: 120_000n,
    }),
  );
  expect(file).toMatchObject({
    name: 'cam.png',
    isImage: true,
    path: '/binary-data/1',
    tags: ['ok'],
    machine: 'press',
  });
  expect(sizeText(file.bytes)).toBe('120 kB');
});

test('a file of another type is shown by the last part of its name, not as a picture', () => {
  const file = fileOf(
    create(BinaryMetadataSchema, { captureMetadata: { mimeType: 'text/html' }, fileName: '/var/log/a b.html' }),
  );
  expect(file).toMatchObject({ name: 'a b.html', isImage: false, path: '' });
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [5e9, '5.0 GB'],
  [2e15, '2000 TB'],
])('%i bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
