/** `platform login`, `logout`, `whoami`, `token`: who you are to a cloud. */
import { readFile } from 'node:fs/promises';
import { password as askSecret, text as askText, isCancel } from '@clack/prompts';
import { type JsonObject, openCloud, PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { group, leaf } from '../invocation/leaf.ts';
import { type Profile, readProfiles, writeProfiles } from '../invocation/profiles.ts';
import { signInByBrowser } from '../login/sign-in-by-browser.ts';
import { configDir, fromEnvironment } from '../settings.ts';

const defaultUrl = 'http://127.0.0.1:8080';

export function loginCommands(): readonly Command[] {
  return [login(), logout(), whoami(), token()];
}

function login(): Command {
  const byBrowser = leaf(
    new Command('browser')
      .description('sign in with a browser; the default')
      .option('--no-browser', 'print the address and ask for the code that the page shows')
      .option('--ca <file>', 'PEM of the certificates to trust, for an installation with its own authority'),
    { examples: ['platform login', 'platform login --url https://cloud.example --no-browser'] },
    async (context, flags) => {
      const url = context.flags.url ?? (fromEnvironment.url || defaultUrl);
      const signedIn = await signInByBrowser({
        url,
        openBrowser: flags['browser'] !== false,
        say: (line) => context.out.warn(line),
        askCode: async () => {
          if (!context.interactive)
            throw new PlatformError(
              'invalid_argument',
              'login: nobody can paste a code here; use: platform login api-key',
            );
          const code = await askText({ message: 'Code that the page shows', output: process.stderr });
          if (isCancel(code)) throw new PlatformError('canceled', 'you are not logged in');
          return String(code).trim();
        },
        signal: context.signal,
      });
      await keep(context, {
        url,
        credentials: { sessionToken: signedIn.token },
        as: signedIn.email,
        ...(await caOf(flags['ca'])),
      });
    },
  );
  const byKey = leaf(
    new Command('api-key')
      .description(
        'log in with an API key; the secret comes from --key-file, standard input or a prompt, never from the command line',
      )
      .option('--ca <file>', 'PEM of the certificates to trust'),
    {
      examples: [
        'platform login api-key --key-id ID --key-file key.txt',
        'platform login api-key --key-id ID --url https://cloud.example',
      ],
    },
    async (context, flags) => {
      const url = context.flags.url ?? (fromEnvironment.url || defaultUrl);
      const keyId = context.flags.keyId ?? '';
      if (keyId === '') throw new PlatformError('invalid_argument', 'login api-key: expected --key-id');
      const key = await secretOf(context);
      const ca = await caOf(flags['ca']);
      // Tried before it is kept, so that a wrong key is told now.
      await using cloud = openCloud({ url, keyId, key, ...ca });
      await cloud.accessToken();
      await keep(context, { url, credentials: { keyId, key }, as: keyId, ...ca });
    },
  );
  return group('login', 'log in to a cloud, and keep that as a profile', [])
    .addCommand(byBrowser, { isDefault: true })
    .addCommand(byKey);
}

async function secretOf(context: Context): Promise<string> {
  const { keyFile } = context.flags;
  if (keyFile !== undefined) return (await readFile(keyFile === '-' ? '/dev/stdin' : keyFile, 'utf8')).trim();
  if (!context.interactive) return (await readFile('/dev/stdin', 'utf8')).trim();
  const typed = await askSecret({ message: 'API key', output: process.stderr });
  if (isCancel(typed)) throw new PlatformError('canceled', 'you are not logged in');
  return String(typed);
}

async function caOf(file: unknown): Promise<{ ca?: string }> {
  return file === undefined ? {} : { ca: await readFile(String(file), 'utf8') };
}

async function keep(context: Context, profile: Profile): Promise<void> {
  const known = await readProfiles(configDir);
  const name = context.flags.profile ?? (fromEnvironment.profile || known.default);
  const { organization } = context.flags;
  const kept = organization === undefined ? profile : { ...profile, organization };
  await writeProfiles(configDir, { ...known, profiles: { ...known.profiles, [name]: kept } });
  context.out.note(`logged in to ${profile.url} as ${profile.as}; kept as profile "${name}"`);
}

function logout(): Command {
  return leaf(
    new Command('logout').description('end the session of this login and forget it'),
    { examples: ['platform logout', 'platform logout --profile client'] },
    async (context) => {
      const known = await readProfiles(configDir);
      const name = context.flags.profile ?? (fromEnvironment.profile || known.default);
      const profile = known.profiles[name];
      if (profile === undefined)
        throw new PlatformError('not_found', `profile: expected one that exists, found "${name}"`);
      if ('sessionToken' in profile.credentials) {
        // A cloud that is away cannot end the session; forgetting it here is what was asked for first.
        await context
          .cloud()
          .then((cloud) => cloud.postJson('/sign-out', {}))
          .catch(() => context.out.warn('the cloud was not reached: the session ends there by itself'));
      }
      const { [name]: _gone, ...others } = known.profiles;
      await writeProfiles(configDir, { ...known, profiles: others });
      context.out.note(`profile "${name}" is forgotten`);
    },
  );
}

function whoami(): Command {
  return leaf(
    new Command('whoami').description('show who you are to the cloud, and what you may do'),
    {
      examples: ['platform whoami', 'platform whoami --json'],
      fields: ['url', 'login', 'kind', 'id', 'name', 'roles'],
    },
    async ({ cloud, login, out, signal }) => {
      const { url, source, as } = await login();
      const me = (await (await cloud()).getJson('/api/whoami', signal)) as JsonObject;
      const roles = (me['roles'] ?? []) as JsonObject[];
      out.object({
        url,
        login: source,
        kind: me['kind'] ?? null,
        id: me['id'] ?? null,
        name: me['email'] ?? me['name'] ?? as,
        roles:
          out.style.json === false
            ? roles.map((role) => `${role['role']} of ${whereOf(role)}`).join(', ') || 'none'
            : roles,
      });
    },
  );
}

function whereOf(role: JsonObject): string {
  const organization = String(role['organizationName'] ?? role['organizationId']);
  if (role['machineId'] !== undefined) return `machine ${role['machineId']} in ${organization}`;
  return role['locationId'] === undefined ? organization : `location ${role['locationId']} in ${organization}`;
}

function token(): Command {
  return leaf(
    new Command('token')
      .description('print an access token of this login, for other tools')
      .alias('print-access-token'),
    { examples: ['curl -H "authorization: Bearer $(platform token)" https://cloud.example/api/whoami'] },
    async ({ cloud, out }) => out.raw(await (await cloud()).accessToken()),
  );
}
