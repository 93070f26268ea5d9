import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fakeLink } from '../../testing/fake-link.ts';
import { uploadFile } from './upload-file.ts';

test('a file that cannot be opened is retried later and affects nothing else, whether the cloud learns of it late or never', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'upload-file-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  // stat works on a socket, but it cannot be opened.
  const path = join(directory, 'socket');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  await using _closing = { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
  const link = fakeLink(() => new Promise(() => {}));
  const outcome = await uploadFile(
    path,
    directory,
    { link, partId: 'part', tags: [], rate: { take: async () => {} } },
    new AbortController().signal,
  );
  expect(outcome).toMatchObject({ kind: 'later' });
});
