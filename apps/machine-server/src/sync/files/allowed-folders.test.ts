import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { left, startFilesRig } from '../../testing/files-rig.ts';

test('D16 -untrusted-env: a sync path that a link leads out of the allowed folders is refused by name', async () => {
  const rig = await startFilesRig();
  await rig.put('allowed/one');
  await rig.put('other/two');
  await symlink(join(rig.root, 'other'), join(rig.root, 'allowed', 'link'));
  const [allowed, linked] = [join(rig.root, 'allowed'), join(rig.root, 'allowed', 'link')];
  await rig.start([allowed, linked], { action: 'delete' }, [allowed]).flush();
  expect(rig.sent).toEqual(['allowed/one']);
  expect(await left(join(rig.root, 'other'))).toEqual(['two']);
  expect(rig.told.filter((line) => line.includes(`-untrusted-env does not allow ${linked}`))).toHaveLength(1);
});

test('D16 -untrusted-env: no file is moved to where a link leads out of the allowed folders', async () => {
  const rig = await startFilesRig();
  await rig.put('allowed/one');
  await mkdir(join(rig.root, 'other'));
  await symlink(join(rig.root, 'other'), join(rig.root, 'allowed', 'link'));
  const allowed = join(rig.root, 'allowed');
  const to = join(allowed, 'link', 'sent');
  await rig.start([allowed], { action: 'move', to }, [allowed]).flush();
  expect([rig.sent, await readdir(join(rig.root, 'other'))]).toEqual([[], []]);
  expect(
    rig.told.filter((line) => line.includes(`additional_sync_move_to: -untrusted-env does not allow ${to}`)),
  ).toHaveLength(1);
});

test('D16 -untrusted-env: no file is moved to where a link leads that was made after the check', async () => {
  const rig = await startFilesRig();
  await rig.put('allowed/one');
  const [allowed, other] = [join(rig.root, 'allowed'), join(rig.root, 'other')];
  await mkdir(other);
  const to = join(allowed, 'sent');
  rig.during = async () => {
    await rm(to, { recursive: true, force: true });
    await symlink(other, to);
  };
  await rig.start([allowed], { action: 'move', to }, [allowed]).flush();
  expect([rig.sent, await readdir(other)]).toEqual([['allowed/one'], []]);
});

test('D16 -untrusted-env: an allowed folder that is replaced by a link while the server runs allows nothing else', async () => {
  const rig = await startFilesRig();
  const allowed = join(rig.root, 'allowed');
  await rig.put('allowed/one');
  await rig.put('other/in/two');
  const sync = rig.start([allowed, join(allowed, 'in')], { action: 'delete' }, [allowed]);
  await sync.flush();
  await rename(allowed, `${allowed}.moved`);
  await symlink(join(rig.root, 'other'), allowed);
  await sync.flush();
  expect(rig.sent).toEqual(['allowed/one']);
  expect(await left(join(rig.root, 'other'))).toEqual(['in/two']);
});
