/**
 * Completes package-lock.json: adds the optional packages of other systems that npm omitted because its registry did not offer them, and
 * the checksum (`integrity`) of each entry that has none. Without the former `npm ci` refuses the lockfile, and other systems would lack
 * their binaries; without the latter npm runs whatever the registry sends. Run this after each `npm install`; `--check` changes nothing,
 * needs no network, and fails if the lockfile is not complete.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { read, root } from './repository.ts';

export interface LockEntry {
  readonly version?: string;
  /** Checksum of the package, `sha512-…` in Base64. */
  readonly integrity?: string;
  /** A workspace of ours, which npm does not fetch. */
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, LockEntry>>;

const installed = 'node_modules/';

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x'];

/** The entries that others require and that are absent, by path. Throws for a range, because the version is not determined. */
export function missingEntries(packages: Packages): Record<string, LockEntry> {
  const missing: Record<string, LockEntry> = {};
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (packages[`node_modules/${name}`] || packages[`${path}/node_modules/${name}`]) continue;
      if (!/^\d/.test(version)) throw new Error(`${path} wants ${name}@${version}: expected one exact version`);
      const { cpu, libc, os } = systemOf(name);
      // In the order in which npm writes them.
      missing[`node_modules/${name}`] = {
        version,
        cpu,
        ...(dev ? { dev } : {}),
        ...(libc ? { libc } : {}),
        optional: true,
        os,
      };
    }
  }
  return missing;
}

/** The system in the name of a binary package. */
function systemOf(name: string): { cpu: string[]; os: string[]; libc: string[] | undefined } {
  const os = systems.find((system) => name.includes(system));
  const cpu = processors.find((processor) => name.includes(processor));
  if (!os || !cpu) throw new Error(`${name}: expected a system and a processor in the name`);
  return { cpu: [cpu], os: [os], libc: os === 'linux' ? [name.includes('musl') ? 'musl' : 'glibc'] : undefined };
}

/** The packages, as `name@version`, of the entries that npm would install without comparing a checksum, by their paths. */
export function withoutChecksum(packages: Packages): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [path, { version, link, integrity }] of Object.entries(packages)) {
    const at = path.lastIndexOf(installed);
    if (at >= 0 && !link && !integrity) found[path] = `${path.slice(at + installed.length)}@${version}`;
  }
  return found;
}

/** The checksum of a published package, from the registry. */
function publishedChecksum(published: string): string {
  const text = execFileSync('npm', ['view', published, 'dist.integrity'], { encoding: 'utf8' }).trim();
  if (!text.startsWith('sha512-'))
    throw new Error(`${published}: expected a checksum from the registry, found "${text}"`);
  return text;
}

if (import.meta.main) {
  const lock = JSON.parse(read('package-lock.json')) as { packages: Packages };
  const missing = missingEntries(lock.packages);
  const packages: Record<string, LockEntry> = { ...lock.packages, ...missing };
  const unchecked = withoutChecksum(packages);
  if (process.argv.includes('--check')) {
    for (const name of Object.keys(missing))
      console.error(`package-lock.json lacks ${name}; npm run complete-lockfile`);
    for (const [path, published] of Object.entries(unchecked))
      console.error(`package-lock.json has no integrity for ${published} (${path}); npm run complete-lockfile`);
    if (Object.keys(unchecked).length > 0) process.exitCode = 1;
  } else {
    for (const [path, published] of Object.entries(unchecked)) {
      const { version, ...entry } = packages[path] ?? {};
      // In the order in which npm writes them.
      packages[path] = { ...(version && { version }), integrity: publishedChecksum(published), ...entry };
    }
    const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(
      join(root, 'package-lock.json'),
      `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`,
    );
  }
  const counts = `${Object.keys(missing).length} optional packages missing and ${Object.keys(unchecked).length} without checksum`;
  console.log(`lockfile: ${counts} of ${Object.keys(packages).length}`);
}
