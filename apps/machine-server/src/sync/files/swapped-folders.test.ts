import { mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { type FilesRig, left, startFilesRig } from '../../testing/files-rig.ts';

/** A folder outside with files that are none of sync's business. */
async function outside(rig: FilesRig, ...names: readonly string[]): Promise<string> {
  const folder = join(rig.home, 'outside');
  await mkdir(folder, { recursive: true });
  for (const name of names) {
    await writeFile(join(folder, name), 'secret');
    await utimes(join(folder, name), 1, 1);
  }
  return folder;
}

async function swapForLink(folder: string, target: string): Promise<void> {
  await rename(folder, `${folder}.moved`);
  await symlink(target, folder);
}

test('D51 a folder that is swapped for a link after it was listed leads to no other file: none is sent, none is deleted', async () => {
  const rig = await startFilesRig();
  const foreign = await outside(rig, 'one', 'two');
  await rig.put('in/one');
  await rig.put('in/two');
  rig.during = async () => {
    rig.during = async () => {};
    await swapForLink(join(rig.root, 'in'), foreign);
  };
  const sync = rig.start([rig.root]);
  await sync.flush();
  await sync.flush();
  expect(rig.sent).not.toContain('secret');
  // In the moved folder.
  expect(new Set(rig.sent)).toEqual(new Set(['in/one', 'in/two']));
  expect((await readdir(foreign)).toSorted()).toEqual(['one', 'two']);
  expect(rig.told.filter((line) => line.includes('links are not followed'))).toHaveLength(1);
  expect(sync.omitted.count).toBe(1);
});

test('D51 a configured folder that is replaced by a link while the server runs is no longer synced', async () => {
  const rig = await startFilesRig();
  const foreign = await outside(rig, 'one');
  await rig.put('in/one');
  const sync = rig.start([join(rig.root, 'in')]);
  await sync.flush();
  await swapForLink(join(rig.root, 'in'), foreign);
  await sync.flush();
  expect(rig.sent).toEqual(['in/one']);
  expect(await readFile(join(foreign, 'one'), 'utf8')).toBe('secret');
  expect(rig.told.filter((line) => line.includes('only after a restart'))).toHaveLength(1);
});

test('D51 a refused file is not set aside through a link, and the reason overwrites no other file', async () => {
  const rig = await startFilesRig();
  const foreign = await outside(rig, 'bad.reason');
  await rig.put('linked/bad');
  await symlink(foreign, join(rig.root, 'linked', 'failed'));
  await rig.put('reason/bad');
  await mkdir(join(rig.root, 'reason', 'failed'));
  await symlink(join(foreign, 'bad.reason'), join(rig.root, 'reason', 'failed', 'bad.reason'));
  rig.during = async () => {
    throw new PlatformError('invalid_argument', 'not this one');
  };
  await rig.start([rig.root]).flush();
  expect(await left(foreign)).toEqual(['bad.reason']);
  expect(await readFile(join(foreign, 'bad.reason'), 'utf8')).toBe('secret');
  expect(await readFile(join(rig.root, 'reason', 'failed', 'bad.reason'), 'utf8')).toMatch(/not this one\n$/);
  expect(await left(rig.root)).toContain('linked/bad');
});

test('D51 additional_sync_action move puts no file through a link', async () => {
  const rig = await startFilesRig();
  const foreign = await outside(rig, 'one');
  const to = join(rig.root, 'sent');
  await mkdir(to);
  await symlink(foreign, join(to, 'in'));
  await rig.put('in/two');
  await rig.put('other/three');
  await rig.start([rig.root], { action: 'move', to }).flush();
  expect(await readdir(foreign)).toEqual(['one']);
  expect((await left(rig.root)).toSorted()).toEqual(['in/two', 'sent/in', 'sent/other/three']);
});
