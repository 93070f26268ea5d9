import { execFileSync } from 'node:child_process';
import { chmod, chown, link, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { silentLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { Directories } from './directories.ts';
import { diskStorage } from './disk-storage.ts';
import { inFolder, openFolder, requireOwnOnly, resolveFolder } from './folder.ts';
import { isTaken, openBelow } from './open-below.ts';
import { SeqLedger } from './seq-ledger.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

test('D51 a configured folder is resolved once, links in its own path included; below it no link is followed', async () => {
  await using directory = await temporaryDirectory();
  await mkdir(directory.file('real/inner'), { recursive: true });
  await mkdir(directory.file('foreign/inner'), { recursive: true });
  await writeFile(directory.file('real/inner/file'), 'ours');
  await writeFile(directory.file('foreign/inner/file'), 'secret');
  await symlink('real', directory.file('root'));
  await symlink(directory.file('foreign'), directory.file('real/link'));
  const root = directory.file('root');
  const read = (path: string): Promise<string> => inFolder(directory.file(path), root, (at) => readFile(at, 'utf8'));

  expect(await read('root/inner/file')).toBe('ours');
  await expect(read('root/link/inner/file')).rejects.toMatchObject({ code: 'ELOOP' });
  await expect(read('root/inner/none')).rejects.toThrow(directory.file('root/inner/none'));
  await rename(root, directory.file('old'));
  await symlink('foreign', root);
  expect(await resolveFolder(root)).toBe(await resolveFolder(directory.file('real')));
  expect(await read('root/inner/file')).toBe('ours');
  await rename(directory.file('real'), directory.file('moved'));
  await symlink('foreign', directory.file('real'));
  await expect(read('root/inner/file')).rejects.toThrow('only after a restart');
});

test('D51 an open folder stays the same, whatever is put in its place', async () => {
  await using directory = await temporaryDirectory();
  await mkdir(directory.file('root/inner'), { recursive: true });
  await mkdir(directory.file('foreign'));
  await writeFile(directory.file('foreign/file'), 'secret');
  await using folder = await openFolder(directory.file('root/inner'), directory.file('root'));
  await rename(directory.file('root/inner'), directory.file('root/old'));
  await symlink(directory.file('foreign'), directory.file('root/inner'));
  await writeFile(folder.at('new'), 'ours');
  expect([await readdir(directory.file('root/old')), await readdir(directory.file('foreign'))]).toEqual([
    ['new'],
    ['file'],
  ]);
});

test('D51 where the system has no such door, a folder that others may write is refused', async () => {
  await using directory = await temporaryDirectory();
  await mkdir(directory.file('root/inner'), { recursive: true });
  const [root, inner] = [directory.file('root'), directory.file('root/inner')];
  await expect(requireOwnOnly(inner, root)).resolves.toBeUndefined();
  await chmod(root, 0o777);
  await expect(requireOwnOnly(inner, root)).rejects.toMatchObject({ code: 'failed_precondition' });
  await chmod(root, 0o700);
  await chmod(inner, 0o720);
  await expect(requireOwnOnly(inner, root)).rejects.toThrow(inner);
  await chmod(inner, 0o700);
  const above = directory.path;
  await chmod(above, 0o777);
  await expect(requireOwnOnly(inner, root)).rejects.toThrow(`${above}: expected a folder that only this account`);
  await chmod(above, 0o1777);
  await expect(requireOwnOnly(inner, root)).resolves.toBeUndefined();
  await chmod(above, 0o700);
  if (isRoot) {
    await chown(root, nobody, nobody);
    await expect(requireOwnOnly(inner, root)).rejects.toThrow(root);
  }
});

test(`D51 a file with several names is taken only from this account or the owner of the folder${isRoot ? '' : ' (rule only: not run as root)'}`, async () => {
  expect(isTaken({ nlink: 1n, uid: 7n }, new Set([0n]))).toBe(true);
  expect(isTaken({ nlink: 2n, uid: 7n }, new Set([0n, 7n]))).toBe(true);
  expect(isTaken({ nlink: 2n, uid: 7n }, new Set([0n]))).toBe(false);
  await using directory = await temporaryDirectory();
  const [root, file] = [directory.file('root'), directory.file('root/file')];
  await mkdir(root);
  await writeFile(directory.file('elsewhere'), 'theirs');
  await link(directory.file('elsewhere'), file);
  await (await openBelow(file, root))[Symbol.asyncDispose]();
  if (!isRoot) return;
  await chown(file, nobody, nobody);
  await expect(openBelow(file, root)).rejects.toThrow(`${file}: it has several names`);
  await chown(root, nobody, nobody);
  await (await openBelow(file, root))[Symbol.asyncDispose]();
});

test('D51 a capture directory that another account has made is used, but not its links, pipes and files', async () => {
  await using home = await temporaryDirectory();
  const [captured, foreign] = [home.file('captured'), home.file('foreign')];
  await mkdir(captured);
  await mkdir(foreign);
  await writeFile(`${foreign}/x.prog`, 'secret');
  await symlink(foreign, `${captured}/core_component_sensor`);
  await symlink(`${foreign}/x.prog`, `${captured}/y.prog`);
  execFileSync('mkfifo', [`${captured}/z.prog`, `${captured}/.lock`]);
  if (isRoot) await chown(captured, nobody, nobody);
  const deps = { home: home.path, ledger: new SeqLedger(), clock: systemClock, log: silentLog };
  await using directories = new Directories(deps);
  expect(await directories.own(captured)).toBe(true);
  const storage = diskStorage(captured);
  await expect(storage.create(`${captured}/core_component_sensor/s/Readings/a.prog`)).rejects.toMatchObject({
    code: 'ELOOP',
  });
  await expect(storage.read(`${captured}/y.prog`)).rejects.toThrow('a link');
  const own = await storage.create(`${captured}/core_component_motor/m/Position/a.prog`);
  await own.write(Buffer.from('ours'), 0);
  await own.close();
  await storage.rename(
    `${captured}/core_component_motor/m/Position/a.prog`,
    `${captured}/core_component_motor/m/Position/a.capture`,
  );
  expect(await readFile(`${captured}/core_component_motor/m/Position/a.capture`, 'utf8')).toBe('ours');
  expect(await readdir(foreign)).toEqual(['x.prog']);
  expect(await readFile(`${foreign}/x.prog`, 'utf8')).toBe('secret');
});
