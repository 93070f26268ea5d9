/** `platform login` and `logout`. */
import { password as askSecret, text as askText, isCancel } from '@clack/prompts';
import { openCloud, PlatformError, pinnedAuthority } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { type Context, currentProfile, defaultUrl } from '../invocation/context.ts';
import { readInput } from '../invocation/input.ts';
import { type Flags, group, leaf } from '../invocation/leaf.ts';
import { requireCloud } from '../invocation/other-server.ts';
import { type Profile, readProfiles, writeProfiles } from '../invocation/profiles.ts';
import { signInByBrowser } from '../login/sign-in-by-browser.ts';
import { configDir, fromEnvironment } from '../settings.ts';
import { tokenCommand, whoamiCommand } from './whoami.ts';

export function loginCommands(): readonly Command[] {
  return [login(), logout(), whoamiCommand(), tokenCommand()];
}

function login(): Command {
  const byBrowser = leaf(
    new Command('browser')
      .description('sign in with a browser; the default')
      .option('--no-browser', 'print the address and take the code that the page shows, typed or on standard input')
      .option('--ca <file>', caOption)
      .option('--fingerprint <sha256>', fingerprintOption),
    {
      examples: [
        'platform login',
        'platform login --url https://cloud.example --no-browser',
        'platform login --url https://cloud.example --fingerprint 3A:7F:…',
      ],
    },
    async (context, flags) => {
      const url = context.flags.url ?? (fromEnvironment.url || defaultUrl);
      const trusted = await authorityOf(context, url, flags);
      await requireCloud({ url, ca: trusted.ca });
      const signedIn = await signInByBrowser({
        url,
        ...trusted,
        openBrowser: flags['browser'] !== false,
        say: (line) => {
          context.out.warn(line);
          context.progress.pause();
        },
        askCode: async () => {
          if (!context.interactive) return (await readInput('-')).trim();
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
        ...trusted,
      });
    },
  );
  const byKey = leaf(
    new Command('api-key')
      .description(
        'log in with an API key; the secret comes from --key-file, standard input or a prompt, never from the command line',
      )
      .option('--ca <file>', caOption)
      .option('--fingerprint <sha256>', fingerprintOption),
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
      const trusted = await authorityOf(context, url, flags);
      await requireCloud({ url, ca: trusted.ca });
      // Tried before it is kept, so that a wrong key is told now.
      await using cloud = openCloud({ url, keyId, key, ...trusted });
      await cloud.accessToken();
      await keep(context, { url, credentials: { keyId, key }, as: keyId, ...trusted });
    },
  );
  return group('login', 'log in to a cloud, and keep that as a profile', [])
    .addHelpText('after', '\nWithout a command it is "login browser"; platform login browser --help has its options.')
    .addCommand(byBrowser, { isDefault: true })
    .addCommand(byKey);
}

async function secretOf(context: Context): Promise<string> {
  const { keyFile } = context.flags;
  if (keyFile !== undefined) return (await readInput(keyFile)).trim();
  if (!context.interactive) return (await readInput('-')).trim();
  const typed = await askSecret({ message: 'API key', output: process.stderr });
  if (isCancel(typed)) throw new PlatformError('canceled', 'you are not logged in');
  return String(typed);
}

const caOption = 'PEM of the certificates to trust, for a cloud with its own authority';
const fingerprintOption = 'SHA-256 of the certificate to trust, as the cloud prints it at its start';

/** What to trust besides the system's authorities, to be kept with the profile. */
async function authorityOf(context: Context, url: string, flags: Flags): Promise<{ ca?: string }> {
  context.reaches(url);
  const { ca: file, fingerprint } = flags;
  if (file === undefined && fingerprint === undefined) return {};
  const ca = file === undefined ? await pinnedAuthority(url, String(fingerprint)) : await readInput(String(file));
  context.reaches(url, ca);
  return { ca };
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
      const { name, profile } = await currentProfile(context.flags.profile);
      if (profile === undefined)
        throw new PlatformError(
          'not_found',
          `profile: expected one that exists, found "${name}": you are not logged in`,
        );
      if ('sessionToken' in profile.credentials) {
        // A cloud that is away cannot end the session; forgetting it here is what was asked for first.
        context.reaches(profile.url, profile.ca);
        await using cloud = openCloud({ ...profile, ...profile.credentials });
        await cloud
          .postJson('/sign-out', {}, context.signal)
          .catch(() =>
            context.out.warn(
              'the cloud was not reached: the session ends there by itself, after 90 days unless set otherwise',
            ),
          );
      }
      const { [name]: _gone, ...others } = known.profiles;
      await writeProfiles(configDir, { ...known, profiles: others });
      context.out.note(`profile "${name}" is forgotten`);
    },
  );
}
