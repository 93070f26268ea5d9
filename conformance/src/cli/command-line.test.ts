/** What the other tests of the command line rely on: its runs in their process leave nothing behind. */
import { expect, test } from 'vitest';
import { openCommandLine } from './command-line.ts';

/** Reads its standard input first. */
const verify = ['webhooks', 'verify', '-', '--secret', 'none', '--id', '1'];

test('a run leaves the working directory and the exit code of the test; one in another directory meanwhile is refused', async () => {
  await using cli = await openCommandLine();
  await using other = await openCommandLine();
  const own = (): unknown => [process.cwd(), process.exitCode];
  const before = own();
  const waiting = cli.start(verify, { keepOpen: true });
  expect(process.cwd()).toBe(cli.directory);
  expect(() => other.start(['version'])).toThrow(`found one in ${cli.directory}`);
  waiting.stdin.end('{}');
  expect(await waiting.ended).toMatchObject({
    code: 5,
    stdout: '',
    stderr: expect.stringContaining('begins with whsec_'),
  });
  expect(own()).toEqual(before);
  expect((await other.ok(['version', '--json'])).json()).toMatchObject({ node: process.versions.node });
});

test('closing the command line ends its runs', async () => {
  const cli = await openCommandLine();
  const waiting = cli.start(verify, { keepOpen: true });
  await cli[Symbol.asyncDispose]();
  expect((await waiting.ended).code).toBe(130);
  expect(process.cwd()).not.toBe(cli.directory);
});
