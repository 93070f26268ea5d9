import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Runs the server to its end. */
async function run(...args: string[]): Promise<{ code: number; out: string; error: string }> {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@platform/source', main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: Number(code), out, error };
}

test('D16 -version prints the version; a missing or wrong -config ends with one sentence and a code that is not zero', async () => {
  const home = await mkdtemp(join(tmpdir(), 'machine-main-'));
  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(join(home, name), content);
    return join(home, name);
  };
  expect(await run('-version')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^machine-server \d+\.\d+\.\d+\n$/),
  });
  const cases: [string[], RegExp][] = [
    [[], /expected -config <file>/],
    [['-config', join(home, 'none')], /none: ENOENT/],
    [['-config', await file('text', '{')], /not JSON/],
    [['-config', await file('part', '{"cloud":{"secret":"s"}}')], /expected text at "cloud.id"/],
    [['-config', await file('local', '{"components":[{"name":"a"}]}')], /components\[0\]\.api/],
    [
      ['-config', await file('far', '{"cloud":{"id":"p","secret":"s","app_address":"http://192.0.2.1:1"}}')],
      /plaintext/,
    ],
  ];
  for (const [args, message] of cases) {
    const { code, error } = await run(...args);
    expect(code).toBe(1);
    expect(error).toMatch(message);
    expect(error.trim().split('\n')).toHaveLength(1);
  }
  await rm(home, { recursive: true });
});
