/** The context of a running command: its cloud, its output, a finder of names, and a stop signal. */
import { join } from 'node:path';
import { confirm, isCancel } from '@clack/prompts';
import { invalidArgument, notFound, unauthenticated } from '@platform/base/refusals';
import {
  type Cloud,
  type CloudCredentials,
  isLoopback,
  type JsonObject,
  openCloud,
  PlatformError,
  printable,
} from '@platform/sdk/cloud';
import { createOutput, type Output } from '../results/output.ts';
import { commandName, type Invocation, readSettings, type Settings } from '../settings.ts';
import { createFinder, type Finder } from './find.ts';
import { parseObject, readInput } from './input.ts';
import { boundProfile, type Profile, readProfiles, trustedAuthority } from './profiles.ts';
import { createProgress, type Progress } from './progress.ts';
import { readDemo, readDemoCloud } from './read-demo.ts';
import { type Reached, requireAddress } from './require-cloud.ts';
import { readRunningCloud } from './running-cloud.ts';

/** Options of every command that talks to a cloud. */
export interface GlobalFlags {
  readonly profile?: string;
  readonly url?: string;
  readonly keyId?: string;
  readonly keyFile?: string;
  readonly organization?: string;
  readonly json?: boolean | string;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  /** False with --no-input. */
  readonly input?: boolean;
  /** Such as 30s; the whole command ends after that time. */
  readonly timeout?: string;
}

/** The cloud and credentials of a command, and where they were found. */
export interface Login {
  readonly url: string;
  readonly credentials: CloudCredentials;
  readonly as: string;
  readonly source: string;
  readonly organization: string;
  readonly ca?: string | undefined;
}

export interface Context extends AsyncDisposable {
  readonly flags: GlobalFlags;
  readonly invocation: Invocation;
  readonly settings: Settings;
  readonly out: Output;
  /** Shows that the command is still running; pause it while something else uses the terminal. */
  readonly progress: Progress;
  /** Aborted by Ctrl-C and by --timeout. */
  readonly signal: AbortSignal;
  /** Names and ids of this cloud. */
  readonly find: Finder;
  /** Whether the user can be asked. */
  readonly interactive: boolean;
  /** The cloud that the command talks to; undefined before the first call. */
  readonly reached: Reached | undefined;
  /** Records the cloud for error messages from now on; `cloud()` does this itself. @throws invalid_argument, see `requireAddress` */
  reaches(url: string, ca?: string): void;
  login(): Promise<Login>;
  cloud(): Promise<Cloud>;
  /** Returns if the user says yes or --yes was given. @throws canceled, invalid_argument if no one can be asked */
  confirm(question: string): Promise<void>;
}

export function createContext(flags: GlobalFlags, invocation: Invocation, signal: AbortSignal): Context {
  const { stdin, stdout, stderr } = invocation;
  const settings = readSettings(invocation);
  const { colours, fromEnvironment } = settings;
  const quiet = flags.quiet ?? false;
  const json = flags.json ?? fromEnvironment.output === 'json';
  let reached: Reached | undefined;
  const doing = (): string => (reached === undefined ? 'working' : `waiting for ${reached.url}`);
  const progress = createProgress(doing, quiet || !stderr.isTTY ? undefined : stderr);
  const style = {
    // `--json=` means all fields.
    json: typeof json === 'string' ? json === '' || json.split(',').map((name) => name.trim()) : json,
    quiet,
    colours,
    command: commandName(invocation.env),
    width: settings.terminalWidth,
  };
  const out = createOutput(style, stdout, stderr, () => progress.heard());
  const canAsk = settings.interactive && flags.input !== false;
  let login: Promise<Login> | undefined;
  let cloud: Promise<Cloud> | undefined;
  const context: Context = {
    flags,
    invocation,
    settings,
    out,
    progress,
    signal,
    interactive: canAsk,
    get reached() {
      return reached;
    },
    reaches: (url, ca) => {
      requireAddress(url);
      reached = { url, ca };
    },
    find: createFinder({
      app: async () => (await context.cloud()).app,
      defaultOrganization: async () =>
        flags.organization ?? (fromEnvironment.organization || (await context.login()).organization),
    }),
    login: () => {
      login ??= findLogin(context).then((found) => withAuthority(found, settings));
      return login;
    },
    cloud: () => {
      cloud ??= context.login().then(({ url, credentials, ca }) => {
        context.reaches(url, ca);
        return openCloud({ url, ...credentials, ca, signal });
      });
      return cloud;
    },
    async confirm(question) {
      if (flags.yes === true) return;
      if (!canAsk) {
        throw invalidArgument(`${question} There is no terminal to answer on; add --yes to continue`);
      }
      progress.pause();
      const answer = await confirm({ message: printable(question), initialValue: false, input: stdin, output: stderr });
      progress.resume();
      if (isCancel(answer) || !answer) throw new PlatformError('canceled', 'nothing was changed');
    },
    async [Symbol.asyncDispose]() {
      progress[Symbol.dispose]();
      const open = await cloud?.catch(() => undefined);
      await open?.[Symbol.asyncDispose]();
    },
  };
  return context;
}

const usualUrl = 'http://127.0.0.1:8080';

/** The address of --url or PLATFORM_URL; otherwise that of the cloud that runs on this computer, or the one where it usually runs. */
export async function urlOrLocal(
  flags: Pick<GlobalFlags, 'url'>,
  { fromEnvironment, homeDir }: Settings,
): Promise<string> {
  return flags.url ?? (fromEnvironment.url || ((await readRunningCloud(homeDir))?.url ?? usualUrl));
}

export const demoSource = 'the demo on this computer (read-only; log in to make changes)';

/** Order of precedence: flags, environment, profile, the demo on this computer. */
async function findLogin({ flags, invocation, settings }: Context): Promise<Login> {
  const { fromEnvironment, homeDir } = settings;
  const url = flags.url ?? fromEnvironment.url;
  const organization = '';
  // A key without an address belongs to the cloud of the current login.
  const urlOfKey = async (): Promise<string> =>
    url || (await urlOfProfile(flags.profile, settings)) || (await urlOrLocal({}, settings));
  if (flags.keyId !== undefined || flags.keyFile !== undefined) {
    const { keyId, key, organizationId } = await readKey(flags.keyId, flags.keyFile, invocation);
    const credentials = { keyId, key };
    return { url: await urlOfKey(), credentials, as: keyId, source: '--key-file', organization: organizationId };
  }
  const { keyId, key } = fromEnvironment;
  if (keyId !== '' && key !== '')
    return { url: await urlOfKey(), credentials: { keyId, key }, as: keyId, source: 'PLATFORM_API_KEY', organization };
  const { name, profile } = await currentProfile(flags.profile, settings);
  if (profile !== undefined) {
    if (url !== '' && originOf(url) !== originOf(profile.url)) throw elsewhere(flags, url, name, profile.url);
    return {
      url: url || profile.url,
      credentials: profile.credentials,
      as: profile.as,
      source: `profile ${name}`,
      organization: profile.organization ?? '',
      ca: profile.ca,
    };
  }
  const running = await readRunningCloud(homeDir);
  const demoDir = running?.dataDir ?? join(homeDir, 'cloud');
  const demo = await readDemo(demoDir).catch(() => undefined);
  if (demo !== undefined && (url === '' || isLoopback(URL.parse(url)?.hostname ?? ''))) {
    const cloud = running ?? (await readDemoCloud(demoDir));
    return {
      url: url || (cloud.url ?? usualUrl),
      credentials: { keyId: demo.keyId, key: demo.key },
      as: demo.keyId,
      source: demoSource,
      organization: demo.organizationId,
      ca: cloud.ca,
    };
  }
  throw unauthenticated(
    `you are not logged in${url === '' ? ', and no cloud of this computer was found in its usual place' : ` to ${url}`}: run "platform login --url ${url || 'URL'}", or set PLATFORM_URL, PLATFORM_API_KEY_ID and PLATFORM_API_KEY`,
  );
}

/** A key or session must be sent only to the cloud that issued it. */
function elsewhere({ url: flag }: GlobalFlags, url: string, name: string, known: string): PlatformError {
  const of = flag === undefined ? 'PLATFORM_URL' : '--url';
  return unauthenticated(
    `${of} ${url}: profile "${name}" is a login to ${known}, and its credentials are not sent to another address. Log in there with platform login --url ${url} --profile NAME, or give a key for this command: --key-id with --key-file, or PLATFORM_API_KEY_ID with PLATFORM_API_KEY`,
  );
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

async function urlOfProfile(flag: string | undefined, settings: Settings): Promise<string | undefined> {
  const current = currentProfile(flag, settings);
  const { profile } = await (flag === undefined ? current.catch(() => ({ profile: undefined })) : current);
  return profile?.url;
}

/** A login trusts the authority of any saved login to the same address. */
async function withAuthority(login: Login, { configDir }: Settings): Promise<Login> {
  return { ...login, ca: login.ca ?? trustedAuthority(await readProfiles(configDir), login.url) };
}

/** The profile that applies here; its name even if it does not exist yet. @throws not_found if a named profile does not exist */
export async function currentProfile(
  flag: string | undefined,
  { configDir, fromEnvironment }: Settings,
): Promise<{ name: string; profile: Profile | undefined }> {
  const known = await readProfiles(configDir);
  const named = flag ?? (fromEnvironment.profile || (await boundProfile(process.cwd())));
  const name = named ?? known.default;
  const profile = known.profiles[name];
  if (named !== undefined && profile === undefined) {
    const others = Object.keys(known.profiles).join(', ') || 'none';
    throw notFound(
      `profile: expected an existing one (${others}), found "${name}". Create it with: platform login --profile ${name}`,
    );
  }
  return { name, profile };
}

/** The error does not quote the text: it may be a key without its id. */
function keyObject(text: string, file: string): JsonObject {
  try {
    return parseObject(text, file);
  } catch {
    throw invalidArgument(
      `${file}: expected JSON with "id" and "key", found something else; add --key-id if the file contains only the key`,
    );
  }
}

/**
 * Reads a key from a file: only the key if its id is given, otherwise JSON, such as from `api-keys create --json` or a cloud's `demo.json`.
 */
export async function readKey(
  keyId: string | undefined,
  file: string | undefined,
  invocation: Invocation,
): Promise<{ keyId: string; key: string; organizationId: string }> {
  if (file === undefined) throw invalidArgument('--key-id requires --key-file');
  const text = (await readInput(file, invocation)).trim();
  if (keyId !== undefined && !text.startsWith('{')) return { keyId, key: text, organizationId: '' };
  const value = keyObject(text, file);
  const key = value['key'];
  const id = keyId ?? value['key_id'] ?? value['id'] ?? value['keyId'];
  if (typeof key !== 'string' || typeof id !== 'string')
    throw invalidArgument(`${file}: expected JSON with the strings "id" and "key", found something else`);
  return { keyId: id, key, organizationId: String(value['organization_id'] ?? value['organizationId'] ?? '') };
}
