import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type CreateBinaryDataSignedURLRequestSchema,
  CreateBinaryDataSignedURLResponseSchema,
} from '@platform/proto/platform/app/data/v1/data';
import { expect, test, vi } from 'vitest';
import { downloadFile } from './download-file.ts';

test('D49 a download opens an address for that file alone, which works for 10 minutes, and nothing with the session', async () => {
  const link = { href: '', download: '', click: vi.fn() };
  vi.stubGlobal('document', { createElement: () => link });
  const asked: MessageInitShape<typeof CreateBinaryDataSignedURLRequestSchema>[] = [];
  const signedUrl = 'https://cloud.example/binary-data/7?made=1&expires=601&by=session:s1&signature=abc';
  const data = {
    async createBinaryDataSignedURL(request: MessageInitShape<typeof CreateBinaryDataSignedURLRequestSchema>) {
      asked.push(request);
      return create(CreateBinaryDataSignedURLResponseSchema, { signedUrl });
    },
  };
  try {
    await downloadFile(data, { id: '7', name: 'a.png' });
  } finally {
    vi.unstubAllGlobals();
  }
  expect(asked).toEqual([{ binaryDataId: '7', expirationMinutes: 10 }]);
  expect(link).toMatchObject({ href: signedUrl.slice('https://cloud.example'.length), download: 'a.png' });
  expect(link.click).toHaveBeenCalledOnce();
});
