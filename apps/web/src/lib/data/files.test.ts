import { create } from '@bufbuild/protobuf';
import { BinaryMetadataSchema } from '@platform/proto/platform/app/data/v1/data';
import { expect, test } from 'vitest';
import { fileOf } from './files.ts';

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
    bytes: 120_000,
    tags: ['ok'],
    machine: 'press',
  });
});

test('a file of another type is shown by the last part of its name, not as a picture', () => {
  const file = fileOf(
    create(BinaryMetadataSchema, { captureMetadata: { mimeType: 'text/html' }, fileName: '/var/log/a b.html' }),
  );
  expect(file).toMatchObject({ name: 'a b.html', isImage: false, path: '' });
});
