/** Favorites on the command line: of a person who logged in, and refused to a key. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSession } from '../app-api/web-session.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

let cloud: CloudProcess;
let cli: CommandLine;
beforeAll(async () => {
  [cloud, cli] = await Promise.all([startCloud(), openCommandLine()]);
  cli.secrets.add(cloud.key).add(cloud.partSecret);
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

/** Answers the question of `platform login --no-browser` as the first person. */
async function login(): Promise<void> {
  const person = new WebSession(cloud.url);
  await person.signIn(cloud.signInLink);
  const command = cli.start(['login', '--url', cloud.url, '--no-browser'], { keepOpen: true });
  const [, address = ''] = await command.matching('stderr', /^ +(http\S+)$/m);
  await person.open(address.slice(cloud.url.length));
  const page = await person.submit('/sign-in/cli', { answer: 'allow' });
  command.stdin.end(`${/<code id="code">([\w-]+)</.exec(page)?.[1]}\n`);
  expect((await command.ended).code).toBe(0);
}

test('a person adds, lists and removes favorites; the error for a key says how a person signs in', async () => {
  await login();
  await cli.ok(['machines', 'create', 'press-7', '--location', cloud.locationId]);
  const added = await cli.ok(['machines', 'favorites', 'add', 'press-7']);
  expect(added).toMatchObject({ stdout: '', stderr: expect.stringContaining('machine "press-7" is a favorite') });
  const list = await cli.ok(['machines', 'favorites', 'list', '--json']);
  expect(list.json()).toEqual([
    {
      id: expect.any(String),
      name: 'press-7',
      location_id: cloud.locationId,
      organization_id: cloud.organizationId,
      state: 'awaiting setup',
      last_access: null,
      added_at: expect.any(String),
    },
  ]);
  expect((await cli.ok(['machine', 'favorite', 'list'])).stdout).toContain('press-7');

  const byKey = { PLATFORM_URL: cloud.url, PLATFORM_API_KEY_ID: cloud.keyId, PLATFORM_API_KEY: cloud.key };
  const refused = await cli.run(['machines', 'favorites', 'list'], { env: byKey });
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(/expected a signed-in person, found an API key.*platform login/s);

  await cli.ok(['machines', 'favorites', 'remove', 'press-7']);
  expect((await cli.ok(['machines', 'favorites', 'list', '--json'])).json()).toEqual([]);
});
