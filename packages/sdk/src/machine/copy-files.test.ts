import { create } from '@bufbuild/protobuf';
import { CopyFilesFromMachineResponseSchema } from '@platform/proto/platform/service/shell/v1/shell';
import { expect, test } from 'vitest';
import { readFiles, writeFiles } from './copy-files.ts';
import type { Machine } from './open-machine.ts';

interface Sent {
  readonly name?: string;
  readonly isDir?: boolean;
  readonly data?: Uint8Array;
  readonly eof?: boolean;
}

/** A machine that sends this, whatever it is asked for. */
function sending(...files: readonly Sent[]): Pick<Machine, 'client'> & { readonly acknowledged: () => number } {
  let acks = 0;
  const client = {
    async *copyFilesFromMachine(requests: AsyncIterable<{ request: { case: string } }>) {
      const messages = requests[Symbol.asyncIterator]();
      await messages.next();
      for (const value of files) {
        yield create(CopyFilesFromMachineResponseSchema, { response: { case: 'fileData', value } });
        if (value.eof !== true) continue;
        if ((await messages.next()).value?.request.case === 'ackLastFile') acks++;
      }
    },
  };
  return { client: () => client as never, acknowledged: () => acks };
}

async function read(machine: Pick<Machine, 'client'>, isRecursive = true) {
  const found: [string, boolean, string][] = [];
  for await (const { path, isFolder, content } of readFiles(machine, 'x', { shell: 'sh', isRecursive })) {
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(part);
    found.push([path.join('/'), isFolder, Buffer.concat(parts).toString()]);
  }
  return found;
}

const folder = (name: string): Sent => ({ name, isDir: true, eof: true });
const file = (name: string, text = ''): Sent => ({ name, data: Buffer.from(text), eof: true });

test('files arrive with their paths below what was asked for, in pieces, and are acknowledged', async () => {
  const pieces = [{ name: 'tree/b/c', data: Buffer.from('one ') }, { data: Buffer.from('two') }, { eof: true }];
  const machine = sending(folder('tree'), file('tree/a', 'A'), folder('tree/b'), ...pieces);
  expect(await read(machine)).toEqual([
    ['', true, ''],
    ['a', false, 'A'],
    ['b', true, ''],
    ['b/c', false, 'one two'],
  ]);
  expect(machine.acknowledged()).toBe(4);
  // The home folder and the root have no name.
  expect(await read(sending(folder('.'), file('a')))).toEqual([
    ['', true, ''],
    ['a', false, ''],
  ]);
  expect(await read(sending(folder('..'), file('../a')))).toHaveLength(2);
});

test('what is not read of a file is skipped', async () => {
  const machine = sending(folder('t'), { name: 't/a', data: Buffer.from('x') }, { eof: true }, file('t/b'));
  const names: string[] = [];
  for await (const { path } of readFiles(machine, 't', { shell: 'sh', isRecursive: true })) names.push(path.join('/'));
  expect(names).toEqual(['', 'a', 'b']);
});

test('no name that a machine sends leads out of what was asked for', async () => {
  for (const name of ['t/../../etc/cron.d/x', '../t/x', 't/..', 'other', '/etc/passwd', 't/a\0b', ''])
    await expect(read(sending(folder('t'), file(name))), name).rejects.toMatchObject({ code: 'failed_precondition' });
  await expect(read(sending(folder('t')), false)).rejects.toThrow('which is not in what was asked for');
  await expect(read(sending(file('t', 'one'), file('u', 'two')), false)).rejects.toThrow('"u"');
});

test('a machine that ends a copy to it before it has acknowledged everything is an error, and so is a file that cannot be read', async () => {
  const client = {
    async *copyFilesToMachine(requests: AsyncIterable<unknown>) {
      for await (const _ of requests);
      yield { ackLastFile: false };
    },
  };
  const machine = { client: () => client as never };
  async function* files(fails: boolean) {
    yield { path: ['a'], isFolder: false, size: 0, content: content(fails) };
  }
  async function* content(fails: boolean): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x');
    if (fails) throw new Error('the disk is broken');
  }
  const options = { shell: 'sh', to: 'x', name: 'x', isFolder: true };
  await expect(writeFiles(machine, files(false), options)).rejects.toThrow('had acknowledged 1 files');
  await expect(writeFiles(machine, files(true), options)).rejects.toThrow('the disk is broken');
});
