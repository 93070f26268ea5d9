import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startPostgres } from './postgres.ts';
import { spawnChild } from './process.ts';

function socketDirectory(url: string): string {
  return decodeURIComponent(new URL(url).host);
}

function serversIn(directory: string): number {
  const commands = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });
  return commands.filter((command) => command.includes(`${directory}/data`)).length;
}

test('a test server starts, is killed, recovers, and leaves neither process nor directory behind', async () => {
  let directory = '';
  {
    await using server = await startPostgres({ durable: true });
    directory = socketDirectory(server.url('postgres'));
    expect(existsSync(dirname(directory))).toBe(true);
    expect(serversIn(directory)).toBeGreaterThan(0);
    await server.kill();
    expect(serversIn(directory)).toBe(0);
    await server.start();
    expect(existsSync(`${directory}/.s.PGSQL.5432`)).toBe(true);
  }
  expect(serversIn(directory)).toBe(0);
  expect(existsSync(directory)).toBe(false);
});

test('when a test process is killed, its server ends too', async () => {
  const script = `
    const { startPostgres } = await import(${JSON.stringify(new URL('./postgres.ts', import.meta.url).href)});
    const server = await startPostgres();
    console.log(JSON.stringify({ url: server.url('postgres') }));
    setInterval(() => {}, 1000);
  `;
  await using child = spawnChild(process.execPath, [
    '--conditions=@platform/source',
    '--input-type=module',
    '-e',
    script,
  ]);
  const { url } = await child.waitForLine((line) => line['url'] !== undefined);
  const directory = socketDirectory(String(url));
  expect(serversIn(directory)).toBeGreaterThan(0);
  await child.kill();
  while (serversIn(directory) > 0 || existsSync(directory)) await sleep(20);
});
