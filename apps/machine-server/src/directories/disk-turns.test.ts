/** Calls that never return have bounded shares of the threads of Node's pool, which together leave some of them. */
import { readdir, readFile } from 'node:fs/promises';
import { spawnChild } from '@platform/testkit';
import { expect, test } from 'vitest';
import { program } from '../../../../tools/bundles/program.ts';
import { createLocalHome } from '../testing/local-machine.ts';
import { callTurns, syncTurns } from './disk-turns.ts';

/** Of the pool of a machine-server. */
const threads = 36;
/** Files in folders of ours (`open-below.ts`), and files that others named: each has `mostAtOnce` of `file-turns.ts`. */
const ofFiles = 2 * 4;

test.each([
  ['syncs', syncTurns, 16, 8],
  ['other calls', callTurns, 8, 4],
])(
  'C13 more %s that do not return than their share run no further ones, and one directory leaves half to others',
  async (_what, turns, ofAll, ofOne) => {
    const stuck = Promise.withResolvers<void>();
    const running = new Map<string, number>();
    const begun: Promise<void>[] = [];
    const begin = (directory: string): void => {
      const task = async (): Promise<void> => {
        running.set(directory, (running.get(directory) ?? 0) + 1);
        await stuck.promise;
      };
      for (let call = 0; call < threads; call++) begun.push(turns.of(directory)(task));
    };
    const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    begin('/a');
    await settle();
    expect([...running]).toEqual([['/a', ofOne]]);
    begin('/b');
    begin('/c');
    await settle();
    expect([...running]).toEqual([
      ['/a', ofOne],
      ['/b', ofAll - ofOne],
    ]);
    stuck.resolve();
    await Promise.all(begun);
    expect(running.get('/c')).toBe(threads);
  },
);

test('C13 a machine-server has more threads than all calls that may block take together', async () => {
  await using home = await createLocalHome({});
  const main = program('machine-server');
  const args = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning', main];
  await using server = spawnChild(process.execPath, [...args, '-config', home.configFile, '-debug'], {
    env: { PLATFORM_BIND_ADDRESS: '127.0.0.1:0', PLATFORM_HOME: home.path },
  });
  await server.waitForLine(({ msg }) => msg === 'running');
  const tasks = `/proc/${server.pid}/task`;
  const names = await Promise.all((await readdir(tasks)).map((id) => readFile(`${tasks}/${id}/comm`, 'utf8')));
  expect(names.filter((name) => name.trim() === 'libuv-worker')).toHaveLength(threads);
  expect(16 + 8 + ofFiles).toBeLessThan(threads);
});
