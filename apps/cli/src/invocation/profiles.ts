/**
 * Profiles: saved logins, in one file of mode 0600 in the settings directory.
 *
 * Which one applies: --profile, then PLATFORM_PROFILE, then the one bound to this directory or one above it
 * (`.platform/profile`, a file that contains a name), then the default. The file is replaced atomically.
 */
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dataLoss } from '@platform/base/refusals';

export interface Profile {
  readonly url: string;
  readonly credentials: { readonly keyId: string; readonly key: string } | { readonly sessionToken: string };
  /** Who signed in: an e-mail address, or the name of the key, or its id if it has no name. */
  readonly as: string;
  /** Default for --organization. */
  readonly organization?: string;
  /** Its name when it was chosen. */
  readonly organizationName?: string;
  /** PEM of the certificates to trust, for an installation with its own authority. */
  readonly ca?: string;
}

export interface Profiles {
  readonly default: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const empty: Profiles = { default: 'default', profiles: {} };

export async function readProfiles(configDir: string): Promise<Profiles> {
  const file = profilesFile(configDir);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'ENOENT') return empty;
    throw caught;
  }
  try {
    return { ...empty, ...(JSON.parse(text) as Profiles) };
  } catch {
    throw dataLoss(`${file}: expected JSON with profiles, found something else. Remove it and log in again`);
  }
}

export async function writeProfiles(configDir: string, profiles: Profiles): Promise<void> {
  await mkdir(configDir, { recursive: true, mode: 0o700 });
  const file = profilesFile(configDir);
  const next = `${file}.${process.pid}.new`;
  await writeFile(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await chmod(next, 0o600);
  await rename(next, file);
}

/** The authority that a saved login to this cloud trusts, PEM; undefined if no profile has one. */
export function trustedAuthority({ profiles }: Profiles, url: string): string | undefined {
  const origin = URL.parse(url)?.origin;
  return Object.values(profiles).find((one) => one.ca !== undefined && URL.parse(one.url)?.origin === origin)?.ca;
}

/** The profile to which a directory, or one above it, is bound. */
export async function boundProfile(directory: string): Promise<string | undefined> {
  for (let at = directory; ; at = dirname(at)) {
    const name = await readFile(bindingOf(at), 'utf8').catch(() => undefined);
    if (name !== undefined && name.trim() !== '') return name.trim();
    if (dirname(at) === at) return undefined;
  }
}

export async function bindProfile(directory: string, name: string): Promise<string> {
  const file = bindingOf(directory);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${name}\n`);
  return file;
}

export async function unbindProfile(directory: string): Promise<void> {
  await rm(bindingOf(directory), { force: true });
}

function bindingOf(directory: string): string {
  return join(directory, '.platform', 'profile');
}

function profilesFile(configDir: string): string {
  return join(configDir, 'profiles.json');
}
