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

const module = JSON.stringify(new URL('./lock-directory.ts', import.meta.url).href);

/** A process whose file calls of the pool's one thread strace makes fail. @param script has `lockDirectory` and `directory` */
function spawnFailing(directory: string, strace: readonly string[], script: string) {
  const program = `
    const { lockDirectory } = await import(${module});
    const directory = ${JSON.stringify(directory)};
    const refusalOf = () => lockDirectory(directory).then(() => 'none', ({ message }) => message);
    ${script}`;
  const node = [process.execPath, '--conditions=@platform/source', '--input-type=module', '--eval', program];
  return spawnChild('strace', ['-f', '-qq', '-o', '/dev/null', ...strace, ...node], {
    env: { UV_THREADPOOL_SIZE: '1' },
  });
}

const release = 'await taken[Symbol.asyncDispose]();';

test('I5 a disk that fails while the draft of a lock is removed leaves the lock taken: the process does not shut itself out', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'own-'));
  // The first removal of the process.
  const failing = ['-e', 'trace=unlink', '-e', 'inject=unlink:error=EIO:when=1'];
  await using child = spawnFailing(directory, failing, `const taken = await lockDirectory(directory); ${release}`);
  const { code } = await child.exited;
  expect(code, child.stderr).toBe(0);
  expect((await readdir(directory)).map((name) => name.replace(/\d+$/, 'PID'))).toEqual(['.lock.PID']);
  await rm(directory, { recursive: true });
});

test('I5 a lock whose removal fails once is removed all the same', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'own-'));
  const failing = ['-e', 'trace=unlink', '-e', 'inject=unlink:error=EIO:when=2'];
  await using child = spawnFailing(directory, failing, `const taken = await lockDirectory(directory); ${release}`);
  const { code } = await child.exited;
  expect(code, child.stderr).toBe(0);
  expect(await readdir(directory)).toEqual([]);
  await rm(directory, { recursive: true });
});

test('I5 a lock that cannot be removed shuts out neither its process nor the next one, and nobody else has the directory meanwhile', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'own-'));
  const failing = ['-e', 'trace=unlink', '-e', 'inject=unlink:error=EIO:when=2+'];
  await using child = spawnFailing(
    directory,
    failing,
    `let taken = await lockDirectory(directory);
    ${release}
    console.log('{"is":"left"}');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.stdin.destroy();
    const [again, other] = await Promise.allSettled([lockDirectory(directory), lockDirectory(directory)]);
    console.log(JSON.stringify({ is: 'again', again: again.status, other: other.reason?.message }));
    await again.value[Symbol.asyncDispose]();`,
  );
  await child.waitForLine(({ is }) => is === 'left');
  const refused = /belongs to the running process \d+/;
  await expect(lockDirectory(directory)).rejects.toThrow(refused);
  child.writeLine('go on');
  expect(await child.waitForLine(({ is }) => is === 'again')).toEqual({
    ...{ is: 'again', again: 'fulfilled', other: expect.stringMatching(refused) },
  });
  const { code } = await child.exited;
  expect(code, child.stderr).toBe(0);
  expect(await readdir(directory)).toContain('.lock');
  await (await lockDirectory(directory))[Symbol.asyncDispose]();
  expect(await readdir(directory)).not.toContain('.lock');
  await rm(directory, { recursive: true });
});

test('I5 a lock that was made although the disk reported an error is the own lock of its process', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'own-'));
  const script = `
    const { linkSync, writeFileSync } = await import('node:fs');
    let taken = await lockDirectory(directory);
    linkSync(directory + '/.lock', directory + '/kept');
    ${release}
    linkSync(directory + '/kept', directory + '/.lock');
    taken = await lockDirectory(directory);
    console.log(JSON.stringify({ refusal: await refusalOf() }));
    ${release}`;
  await using child = spawnFailing(directory, ['-e', 'trace=none'], script);
  expect(await child.waitForLine(() => true)).toEqual({ refusal: expect.stringContaining('belongs to the running') });
  expect((await child.exited).code, child.stderr).toBe(0);
  expect(await readdir(directory)).toEqual(['kept']);
  await rm(directory, { recursive: true });
});

test('I5 a lock that cannot be read at the moment may be that of a running process: it is not taken over', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'own-'));
  const owned = await lockDirectory(directory);
  const failing = ['-P', join(directory, '.lock'), '-e', 'trace=pread64', '-e', 'inject=pread64:error=EIO'];
  await using child = spawnFailing(directory, failing, 'console.log(JSON.stringify({ refusal: await refusalOf() }));');
  expect(await child.waitForLine(() => true)).toEqual({ refusal: expect.stringContaining('EIO') });
  await expect(lockDirectory(directory)).rejects.toThrow(/belongs to the running process/);
  await owned[Symbol.asyncDispose]();
  expect(await readdir(directory)).toEqual([]);
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
