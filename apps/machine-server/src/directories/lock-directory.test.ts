import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@platform/base';
import { spawnChild } from '@platform/testkit';
import { expect, test } from 'vitest';
import { lockDirectory } from './lock-directory.ts';
import { lockHome } from './lock-home.ts';

test('I5 one process owns a capture directory: a second is refused by name, a stale lock is taken over', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'own-'));
  const owned = await lockDirectory(directory);
  await expect(lockDirectory(directory)).rejects.toThrow(new RegExp(`belongs to the running process ${process.pid}`));
  await owned[Symbol.asyncDispose]();
  for (const stale of ['999999999 1 boot', `${process.pid} 1 another-boot`, 'nonsense']) {
    await writeFile(join(directory, '.lock'), stale);
    await (await lockDirectory(directory))[Symbol.asyncDispose]();
  }
  expect(await readdir(directory)).toEqual([]);
  await rm(directory, { recursive: true });
});

test('I5 a disk that fails while the draft of a lock is removed leaves the lock taken: the process does not shut itself out', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'own-'));
  const script = `
    const { lockDirectory } = await import(${JSON.stringify(new URL('./lock-directory.ts', import.meta.url).href)});
    const taken = await lockDirectory(${JSON.stringify(directory)});
    await taken[Symbol.asyncDispose]();`;
  // The first removal of the pool's one thread.
  const failing = ['-f', '-qq', '-o', '/dev/null', '-e', 'trace=unlink', '-e', 'inject=unlink:error=EIO:when=1'];
  const node = [process.execPath, '--conditions=@platform/source', '--input-type=module', '--eval', script];
  await using child = spawnChild('strace', [...failing, ...node], { env: { UV_THREADPOOL_SIZE: '1' } });
  const { code } = await child.exited;
  expect(code, child.stderr).toBe(0);
  expect((await readdir(directory)).map((name) => name.replace(/\d+$/, 'PID'))).toEqual(['.lock.PID']);
  await rm(directory, { recursive: true });
});

test('only one server runs in a home: a second is refused with process, home and what to do; a killed one leaves it free', async () => {
  const home = await mkdtemp(join(tmpdir(), 'home-'));
  const script = `
    const { lockHome } = await import(${JSON.stringify(new URL('./lock-home.ts', import.meta.url).href)});
    await lockHome(${JSON.stringify(home)}, undefined);
    process.stdout.write('locked');
    setInterval(() => {}, 1_000);`;
  const args = ['--conditions=@platform/source', '--input-type=module', '--eval', script];
  const other = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(other.stdout, 'data');
  await expect(lockHome(home, silentLog)).rejects.toThrow(
    `the home directory ${home} belongs to the running process ${other.pid}. One machine-server runs in each home: stop the other process, or set PLATFORM_HOME`,
  );
  other.kill('SIGKILL');
  await once(other, 'exit');
  await (await lockHome(home, silentLog))[Symbol.asyncDispose]();
  // A different lock from that of the captures, so a home may also be a capture directory.
  await using _lock = await lockHome(home, silentLog);
  await using _captures = await lockDirectory(home);
  expect((await readdir(home)).toSorted()).toEqual(['.lock', 'machine-server.lock']);
  await rm(home, { recursive: true });
});
