/**
 * Bad input: each folder of `testcases` has a configuration file, and the expected behaviour of a server that starts with it: its log
 * lines, the state of its resources and modules, and that the valid parts run.
 */
import { readFileSync } from 'node:fs';
import { cp, readdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { errorText } from '@platform/base';
import { expect, test } from 'vitest';
import type { MachineServer } from '../compose.ts';
import { configError, createLocalHome, type LocalHome, startLocalServer, states } from '../testing/local-machine.ts';
import { until } from '../testing/start-test-server.ts';

const folder = fileURLToPath(new URL('../../testcases', import.meta.url));
const ok = { name: 'ok', api: 'core:component:sensor', model: 'core:builtin:fake' };
const cases = await readdir(folder);

/** The server's report about this configuration. */
async function told(home: LocalHome): Promise<string> {
  let server: MachineServer;
  try {
    server = await startLocalServer(home);
  } catch (caught) {
    return `refused: ${errorText(caught).replaceAll(home.path, 'HOME')}\n`;
  }
  const states: string[] = [];
  try {
    await until('what is wrong with modules', () => server.modules.status().every(({ error }) => error !== ''));
    for (const { config, state, error } of server.graph.status())
      states.push(`${config.api}/${config.name} ${state}${error === '' ? '' : `: ${error}`}`);
    for (const { module, error } of server.modules.status()) states.push(`module ${module.name}: ${error}`);
  } finally {
    await server[Symbol.asyncDispose]();
  }
  const lines = home
    .log()
    .matchAll(/^\S+ (?:(WARN |ERROR) ((?:config|frames|modules) .*)|(WARN ) (resources\.\S+ .*))$/gm);
  const logged = [...lines].map(
    ([, level = '', line = '', warn = '', ofResource = '']) => `${(level || warn).trim()} ${line || ofResource}`,
  );
  return `${[...new Set([...logged, ...states])].join('\n').replaceAll(home.path, 'HOME')}\n`;
}

test('there are at least 60 cases', () => expect(cases.length).toBeGreaterThanOrEqual(60));

test('a file of 5 MB runs; one of 17 MB is refused, and the previous configuration continues', async () => {
  const big = (bytes: number) => ({ components: [ok, { ...ok, name: 'a', notes: 'x'.repeat(bytes) }] });
  await using home = await createLocalHome(big(5_000_000));
  await using server = await startLocalServer(home);
  expect(states(server)).toBe('a ready, ok ready');
  await home.write(big(17_000_000));
  await until('the error', async () =>
    /machine.json: expected at most 16777216 bytes, found 170\d+; the running/.test(await configError(server)),
  );
  expect(states(server)).toBe('a ready, ok ready');
});

test.each(cases)('%s', async (name) => {
  await using home = await createLocalHome({ components: [ok] });
  await rm(home.configFile);
  await cp(`${folder}/${name}/config.json`, home.configFile, { recursive: true });
  const expected = readFileSync(`${folder}/${name}/expected`, 'utf8');
  expect(await told(home)).toBe(expected);
  if (!expected.startsWith('refused: ')) return;

  // If nothing in it can run, the previous configuration continues.
  await using running = await createLocalHome({ components: [ok] });
  await using server = await startLocalServer(running);
  await rm(running.configFile);
  await cp(`${folder}/${name}/config.json`, running.configFile, { recursive: true });
  const reason = expected.slice('refused: '.length, -1).replaceAll('HOME', running.path);
  const error = `${reason}; the running configuration stays in use`;
  await until('the error', async () => (await configError(server)) === error);
  expect(states(server)).toBe('ok ready');
});
