/** `platform login` and `logout`. */
import { password as askSecret, text as askText, isCancel } from '@clack/prompts';
import { invalidArgument, notFound } from '@platform/base/refusals';
import { openCloud, PlatformError, pinnedAuthority } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { type Context, currentProfile, urlOrLocal } from '../invocation/context.ts';
import { defineCommand, type Flags, group } from '../invocation/define-command.ts';
import { readInput } from '../invocation/input.ts';
import { type Profile, readProfiles, writeProfiles } from '../invocation/profiles.ts';
import { requireCloud } from '../invocation/require-cloud.ts';
import { signInByBrowser } from '../login/sign-in-by-browser.ts';
import { tokenCommand, whoamiCommand } from './whoami.ts';

export function loginCommands(): readonly Command[] {
  return [login(), logout(), whoamiCommand(), tokenCommand()];
}

function login(): Command {
  const byBrowser = defineCommand(
    new Command('browser')
      .description('sign in with a browser (the default)')
      .option(
        '--no-browser',
        'print the address and read the code that the page shows, from the terminal or standard input',
      )
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
      const url = await urlOrLocal(context.flags, context.settings);
      if (context.flags.input === false)
        throw invalidArgument(
          'login browser: expected someone who signs in, found --no-input; use platform login api-key --key-id ID --key-file FILE',
        );
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
          const { stdin, stderr } = context.invocation;
          if (!context.interactive) return (await readInput('-', context.invocation)).trim();
          const code = await askText({ message: 'Code shown on the page', input: stdin, output: stderr });
          if (isCancel(code)) throw new PlatformError('canceled', 'you are not logged in');
          return String(code).trim();
        },
        signal: context.signal,
      });
      await keep(context, {
        url,
        credentials: { sessionToken: signedIn.token },
        // The owner of a new installation has no e-mail address.
        as: signedIn.email || 'first owner',
        ...trusted,
      });
    },
  );
  const byKey = defineCommand(
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
      const url = await urlOrLocal(context.flags, context.settings);
      const keyId = context.flags.keyId ?? '';
      if (keyId === '') throw invalidArgument('login api-key: expected --key-id');
      const key = await secretOf(context);
      const trusted = await authorityOf(context, url, flags);
      await requireCloud({ url, ca: trusted.ca });
      // The key is tested before it is saved, so that a wrong key fails now.
      await using cloud = openCloud({ url, keyId, key, ...trusted, signal: context.signal });
      const { name } = Object(await cloud.getJson('/api/whoami')) as { readonly name?: string };
      await keep(context, { url, credentials: { keyId, key }, as: name || keyId, ...trusted });
    },
  );
  return group('login', 'log in to a cloud and save the login as a profile', [byBrowser, byKey]).addHelpText(
    'after',
    '\nWithout a command, this runs "login browser". Its options are in\n"platform login browser --help".',
  );
}

async function secretOf(context: Context): Promise<string> {
  const { keyFile } = context.flags;
  const { stdin, stderr } = context.invocation;
  if (keyFile !== undefined) return (await readInput(keyFile, context.invocation)).trim();
  if (!context.interactive) return (await readInput('-', context.invocation)).trim();
  const typed = await askSecret({ message: 'API key', input: stdin, output: stderr });
  if (isCancel(typed)) throw new PlatformError('canceled', 'you are not logged in');
  return String(typed);
}

const caOption = 'PEM file of the certificates to trust, for a cloud with its own certificate authority';
const fingerprintOption = 'SHA-256 of the certificate to trust, as the cloud prints it when it starts';

/** The authority to trust besides the system's; it is saved with the profile. */
async function authorityOf(context: Context, url: string, flags: Flags): Promise<{ ca?: string }> {
  context.reaches(url);
  const { ca: file, fingerprint } = flags;
  if (file === undefined && fingerprint === undefined) return {};
  const ca =
    file === undefined
      ? await pinnedAuthority(url, String(fingerprint))
      : await readInput(String(file), context.invocation);
  context.reaches(url, ca);
  return { ca };
}

async function keep(context: Context, profile: Profile): Promise<void> {
  const { configDir, fromEnvironment } = context.settings;
  const known = await readProfiles(configDir);
  const name = context.flags.profile ?? (fromEnvironment.profile || known.default);
  const { organization } = context.flags;
  const kept = organization === undefined ? profile : { ...profile, organization };
  await writeProfiles(configDir, { ...known, profiles: { ...known.profiles, [name]: kept } });
  context.out.note(`logged in to ${profile.url} as ${profile.as}; saved as profile "${name}"`);
}

function logout(): Command {
  return defineCommand(
    new Command('logout').description('end the session and delete the saved login'),
    { examples: ['platform logout', 'platform logout --profile client'] },
    async (context) => {
      const { configDir } = context.settings;
      const known = await readProfiles(configDir);
      const { name, profile } = await currentProfile(context.flags.profile, context.settings);
      if (profile === undefined)
        throw notFound(`profile: expected one that exists, found "${name}": you are not logged in`);
      if ('sessionToken' in profile.credentials) {
        // If the cloud cannot be reached, the session stays open there; deleting the login here matters more.
        context.reaches(profile.url, profile.ca);
        await using cloud = openCloud({ ...profile, ...profile.credentials, signal: context.signal });
        await cloud
          .postJson('/sign-out', {})
          .catch(() =>
            context.out.warn(
              'the cloud could not be reached; the session expires there by itself, after 90 days by default',
            ),
          );
      }
      const { [name]: _gone, ...others } = known.profiles;
      await writeProfiles(configDir, { ...known, profiles: others });
      context.out.note(`profile "${name}" is deleted`);
    },
  );
}
