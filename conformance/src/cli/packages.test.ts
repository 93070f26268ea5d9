/** `platform packages` and `platform module`, from a folder on the computer to the download of a machine. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

async function openFleet(): Promise<CommandLine> {
  const cloud = await startCloud();
  onTestFinished(() => cloud[Symbol.asyncDispose]());
  const cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  onTestFinished(() => cli[Symbol.asyncDispose]());
  return cli;
}

test('a folder with a meta.json is uploaded as a module, listed and deleted', async () => {
  const cli = await openFleet();
  const folder = join(cli.directory, 'my-sensor');
  mkdirSync(folder);
  writeFileSync(join(folder, 'run.sh'), '#!/bin/sh\n');
  writeFileSync(join(folder, 'meta.json'), JSON.stringify({ module_id: 'me:my-sensor', entrypoint: 'run.sh' }));
  const upload = ['module', 'upload', 'my-sensor', '--version', '0.1.0', '--platform', 'linux/arm64'];
  const uploaded = await cli.ok([...upload, '--json']);
  expect(uploaded.json()).toMatchObject({ version: '0.1.0', size_bytes: expect.any(Number) });
  expect(uploaded.stderr).toContain('"type":"registry","name":"my-sensor"');
  expect((await cli.ok(['packages', 'list', '--type', 'module', '--json=name,version,platform,type'])).json()).toEqual([
    { name: 'my-sensor', version: '0.1.0', platform: 'linux/arm64', type: 'module' },
  ]);
  writeFileSync(join(folder, 'run.sh'), '#!/bin/sh\nexit 1\n');
  const changed = await cli.run(upload);
  expect(changed.code).not.toBe(0);
  expect(changed.stderr).toContain('0.1.0');
  await cli.ok(['packages', 'delete', 'my-sensor', '0.1.0-linux-arm64', '--yes']);
  expect((await cli.ok(['packages', 'list', '--json'])).json()).toEqual([]);
});

test('an invalid upload is refused before anything is sent', async () => {
  const cli = await openFleet();
  writeFileSync(join(cli.directory, 'notes.txt'), 'no archive');
  writeFileSync(join(cli.directory, 'plain.tar.gz'), gzipSync('no tar either'));
  mkdirSync(join(cli.directory, 'bare'));
  const upload = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await cli.run([...args, '--version', '1.0.0']);
    expect(code).not.toBe(0);
    return stderr;
  };
  expect(await upload('packages', 'upload', 'notes.txt', '--name', 'a')).toContain(
    'expected a folder or a .tar.gz file',
  );
  expect(await upload('packages', 'upload', 'nowhere', '--name', 'a')).toContain('nowhere: expected a folder');
  expect(await upload('module', 'upload', 'bare')).toContain('expected a meta.json with module_id, found none');
  expect(await upload('module', 'upload', 'plain.tar.gz', '--name', 'a')).toContain('give --entrypoint');
  expect((await cli.ok(['packages', 'list', '--json'])).json()).toEqual([]);
});
