import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { unpack } from './unpack.ts';

/** An entry of a tar archive. */
function entry(name: string, { type = '0', target = '', content = '' } = {}): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write(target, 157);
  header.write('ustar\0', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

test.each(['ustar', 'gnu', 'pax'])(
  'a tar archive in the format %s is unpacked completely: long names, links, executable files',
  async (format) => {
    await using directory = await temporaryDirectory();
    const source = directory.file('source');
    const long = format === 'ustar' ? `${'d'.repeat(80)}/${'f'.repeat(80)}` : `${'d'.repeat(120)}/${'ü'.repeat(100)}`;
    await mkdir(`${source}/${long}`.replace(/\/[^/]*$/, ''), { recursive: true });
    await writeFile(`${source}/${long}`, 'x'.repeat(200_000));
    await writeFile(`${source}/run.sh`, '#!/bin/sh\n', { mode: 0o755 });
    await symlink('run.sh', `${source}/start`);
    execFileSync('tar', ['-czf', directory.file('a.tar.gz'), `--format=${format}`, '-C', source, '.']);
    await unpack(directory.file('a.tar.gz'), directory.file('to'));
    expect(readFileSync(directory.file(`to/${long}`), 'utf8')).toBe('x'.repeat(200_000));
    expect(statSync(directory.file('to/run.sh')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(directory.file('to/start'))).toBe('run.sh');
  },
);

test('nothing is written outside the folder, through a link or over another entry, and sizes are bounded', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('a.tar.gz');
  let count = 0;
  const unpacked = async (entries: readonly Buffer[], limits = {}): Promise<void> => {
    await writeFile(file, gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)])));
    await unpack(file, directory.file(`to${count++}`), limits);
  };
  const outside = /^expected paths inside the archive, found /;
  await expect(unpacked([entry('../evil', { content: 'x' })])).rejects.toThrow(outside);
  await expect(unpacked([entry('/tmp/evil', { content: 'x' })])).rejects.toThrow(outside);
  await expect(unpacked([entry('a/../../evil', { content: 'x' })])).rejects.toThrow(outside);
  for (const target of ['/etc', '../..', 'a/../..', '..'])
    await expect(unpacked([entry('l', { type: '2', target })])).rejects.toThrow(outside);
  await expect(unpacked([entry('l', { type: '1', target: '../../etc/passwd' })])).rejects.toThrow(outside);
  const link = entry('l', { type: '2', target: 'd' });
  const through = [entry('d', { type: '5' }), link, entry('l/f', { content: 'x' })];
  await expect(unpacked(through)).rejects.toThrow('expected a folder for l/f, found a file or a link');
  await expect(unpacked([entry('f', { content: 'x' }), entry('f', { content: 'y' })])).rejects.toThrow('EEXIST');
  await expect(unpacked([entry('dev', { type: '3' })])).rejects.toThrow('found an entry of type "3": dev');
  await expect(unpacked([entry('f', { content: 'xxx' })], { maxBytes: 2 })).rejects.toThrow('at most 2 bytes');
  await expect(unpacked([entry('a'), entry('b')], { maxEntries: 1 })).rejects.toThrow('at most 1 entries');
  await writeFile(file, gzipSync(entry('f', { content: 'x'.repeat(600) }).subarray(0, 700)));
  await expect(unpack(file, directory.file('cut'))).rejects.toThrow('expected a complete archive');
  await writeFile(file, 'no gzip');
  await expect(unpack(file, directory.file('text'))).rejects.toThrow('incorrect header check');
});
