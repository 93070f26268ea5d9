import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { tar } from './tar.ts';

test("the system's tar unpacks what is written: files, long paths, modes and links; equal content gives equal archives", async () => {
  await using folder = await temporaryDirectory('tar-');
  const long = `${'directory/'.repeat(14)}${'n'.repeat(90)}`;
  const entries = [
    { path: 'a/empty', content: new Uint8Array() },
    { path: 'a/run', content: Buffer.from('x'.repeat(513)), isExecutable: true },
    { path: long, content: Buffer.from('é') },
    { path: 'link', linkTo: 'a/run' },
  ];
  expect(tar(entries)).toEqual(tar(entries));
  const file = join(folder.path, 'a.tar');
  writeFileSync(file, tar(entries));
  execFileSync('tar', ['-xf', file, '-C', folder.path]);
  expect(readFileSync(join(folder.path, 'a/run'), 'utf8')).toHaveLength(513);
  expect(statSync(join(folder.path, 'a/run')).mode & 0o100).toBe(0o100);
  expect(readFileSync(join(folder.path, 'a/empty'), 'utf8')).toBe('');
  expect(readFileSync(join(folder.path, long), 'utf8')).toBe('é');
  expect(readlinkSync(join(folder.path, 'link'))).toBe('a/run');
  expect(() => tar([{ path: 'x'.repeat(101), content: new Uint8Array() }])).toThrow('path that a tar archive can hold');
});
