/**
 * Remembers the last version of each package that was ready, also across restarts: it stays in use while a newer one cannot be fetched.
 *
 * `packages/in-use.json`: a list of packages, written whenever another version becomes ready. Without the file, or with a damaged one, nothing is
 * remembered: a machine then waits for the configured versions.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorText, type Log } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { writeDurably } from '../directories/write-durably.ts';
import { folderOf, type PackageConfig, readPackages } from './package-config.ts';

export interface VersionInUse {
  readonly version: string;
  readonly folder: string;
}

export class PackagesInUse {
  readonly #root: string;
  readonly #log: Log;
  /** By type and name. */
  readonly #last: Map<string, PackageConfig>;
  #writing = Promise.resolve();

  /** @param root the folder of all packages */
  constructor(root: string, log: Log) {
    this.#root = root;
    this.#log = log;
    this.#last = new Map(read(join(root, file)).map((each) => [keyOf(each), each]));
  }

  /** The last version that was ready of the same package; undefined if there is none on this disk. */
  of(wanted: PackageConfig): VersionInUse | undefined {
    const last = this.#last.get(keyOf(wanted));
    if (last === undefined || last.id !== wanted.id) return undefined;
    const folder = join(this.#root, folderOf(last));
    return existsSync(folder) ? { version: last.version, folder } : undefined;
  }

  /** The folders that must not be deleted. */
  get folders(): readonly string[] {
    return [...this.#last.values()].map((each) => join(this.#root, folderOf(each)));
  }

  ready(each: PackageConfig): void {
    const last = this.#last.get(keyOf(each));
    if (last?.id === each.id && last.version === each.version) return;
    this.#last.set(keyOf(each), each);
    this.#write();
  }

  /** Forgets those that a configuration no longer contains. */
  keep(wanted: readonly PackageConfig[]): void {
    const keys = new Set(wanted.map(keyOf));
    const gone = [...this.#last.keys()].filter((key) => !keys.has(key));
    for (const key of gone) this.#last.delete(key);
    if (gone.length > 0) this.#write();
  }

  /** Resolves when everything is written. */
  written(): Promise<void> {
    return this.#writing;
  }

  #write(): void {
    this.#writing = this.#writing.then(async () => {
      const list = [...this.#last.values()].map(({ name, id, version, type }) => ({
        name,
        package: id,
        version,
        type,
      }));
      await writeDurably(join(this.#root, file), JSON.stringify(list)).catch((caught: unknown) =>
        this.#log.warn(`${join(this.#root, file)} cannot be written: ${errorText(caught)}`),
      );
    });
  }
}

const file = 'in-use.json';

function keyOf({ type, name }: PackageConfig): string {
  return `${type} ${name}`;
}

function read(path: string): readonly PackageConfig[] {
  try {
    const list: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(list) ? readPackages(list as JsonObject[]) : [];
  } catch {
    return [];
  }
}
