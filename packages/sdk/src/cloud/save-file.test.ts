import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { saveFile } from './save-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'save-'));
});
afterEach(() => {
  vi.unstubAllGlobals();
  rmSync(folder, { recursive: true, force: true });
});

async function* parts(...texts: (string | Error)[]): AsyncIterable<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

test('a file appears only when complete, progress is reported, and no other file remains', async () => {
  const progress: number[] = [];
  const dest = join(folder, 'a.pdf');
  expect(await saveFile(parts('one', 'two'), dest, { onProgress: (bytes) => progress.push(bytes) })).toBe(6);
  expect([readFileSync(dest, 'utf8'), progress, readdirSync(folder)]).toEqual(['onetwo', [3, 6], ['a.pdf']]);
});

test('an interrupted download leaves the file unchanged', async () => {
  const dest = join(folder, 'a.pdf');
  await expect(saveFile(parts('one', new Error('broken')), dest)).rejects.toThrow('broken');
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(dest, 'before');
  await expect(saveFile(parts('one', new Error('broken')), dest, { overwrite: true })).rejects.toThrow('broken');
  expect([readFileSync(dest, 'utf8'), readdirSync(folder)]).toEqual(['before', ['a.pdf']]);
});

test('a directory, an existing file and a missing folder are refused', async () => {
  mkdirSync(join(folder, 'directory'));
  writeFileSync(join(folder, 'there'), 'before');
  const refused = { directory: 'invalid_argument', there: 'already_exists', 'none/file': 'invalid_argument' };
  for (const [name, code] of Object.entries(refused))
    await expect(saveFile(parts('x'), join(folder, name)), name).rejects.toMatchObject({ code });
  expect(await saveFile(parts('after'), join(folder, 'there'), { overwrite: true })).toBe(5);
  expect(readFileSync(join(folder, 'there'), 'utf8')).toBe('after');
});

/** Root may write everywhere. */
async function asOrdinaryUser(act: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return await act();
  process.seteuid?.(65_534);
  try {
    await act();
  } finally {
    process.seteuid?.(0);
  }
}

test('a folder that is not writable is refused, and its content is unchanged', async () => {
  const closed = join(folder, 'closed');
  mkdirSync(closed);
  writeFileSync(join(closed, 'there'), 'before');
  chmodSync(closed, 0o555);
  chmodSync(folder, 0o755);
  await asOrdinaryUser(async () => {
    for (const name of ['new', 'there'])
      await expect(saveFile(parts('x'), join(closed, name), { overwrite: true })).rejects.toMatchObject({
        code: 'permission_denied',
        message: expect.stringContaining('expected a writable folder'),
      });
  });
  expect([readdirSync(closed), readFileSync(join(closed, 'there'), 'utf8')]).toEqual([['there'], 'before']);
});

test('in a browser, the file becomes a download with the last part of its name', async () => {
  const clicked: { href: string; download: string }[] = [];
  const link = { href: '', download: '', click: () => clicked.push({ href: link.href, download: link.download }) };
  vi.stubGlobal('document', { createElement: () => link });
  expect(await saveFile(parts('one'), 'folder/march.pdf')).toBe(3);
  expect(clicked).toEqual([{ href: expect.stringMatching(/^blob:/), download: 'march.pdf' }]);
});
