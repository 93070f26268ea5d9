import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { shareDirectory } from './shared-files.ts';

test('D51 -shareddir serves the file that it opened, even if its folder or the file is then swapped for a link', async () => {
  await using directory = await temporaryDirectory();
  await mkdir(directory.file('web/sub'), { recursive: true });
  await mkdir(directory.file('foreign'));
  await writeFile(directory.file('web/sub/page.html'), 'public');
  await writeFile(directory.file('foreign/page.html'), 'secret');
  const shared = await shareDirectory(directory.file('web'));
  const file = await shared('sub/page.html');
  await rename(directory.file('web/sub'), directory.file('web/old'));
  await symlink(directory.file('foreign'), directory.file('web/sub'));
  expect(file && (await text(file.open()))).toBe('public');
  expect(await shared('sub/page.html')).toBeUndefined();

  const other = await shared('old/page.html');
  await rename(directory.file('web/old/page.html'), directory.file('web/old/was.html'));
  await symlink(directory.file('foreign/page.html'), directory.file('web/old/page.html'));
  expect(other && (await text(other.open()))).toBe('public');
  expect(await shared('old/page.html')).toBeUndefined();
  const unread = await shared('old/was.html');
  await unread?.[Symbol.asyncDispose]();
});
