/**
 * Adds to package-lock.json the optional packages of other systems that npm omitted because its registry did not offer them. Without them
 * `npm ci` refuses the lockfile, and other systems would lack their binaries. They have a version but no checksum; npm installs only those
 * for its own system. Run this after each `npm install`; `--check` only reports whether the lockfile is complete.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { read, root } from './repository.ts';

export interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, LockEntry>>;

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

if (import.meta.main) {
  const lock = JSON.parse(read('package-lock.json')) as { packages: Packages };
  const missing = missingEntries(lock.packages);
  const names = Object.keys(missing);
  if (process.argv.includes('--check')) {
    for (const name of names) console.error(`package-lock.json lacks ${name}; npm run complete-lockfile`);
    if (names.length > 0) process.exitCode = 1;
  } else {
    const packages = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(
      join(root, 'package-lock.json'),
      `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`,
    );
  }
  console.log(`lockfile: ${names.length} optional packages missing of ${Object.keys(lock.packages).length}`);
}
