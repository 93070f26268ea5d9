/** Makes only those bundles anew whose sources have changed: the others are taken from the build before. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Built {
  /** Every file that went into a bundle, relative to the root. */
  readonly inputs: readonly string[];
  /** Packages that bundles load from `node_modules`. */
  readonly packages: readonly string[];
}

/** A whole build. */
export interface Earlier {
  readonly folder: string;
  /** Whether a file that went into it is still as it was then, relative to the root. */
  isSame(file: string): boolean;
}

/** What went into each bundle, in the folder of a build that a later one may take bundles from. */
const list = 'bundles.json';

/** By the name of the bundle. */
export type Inputs = Readonly<Record<string, Built>>;

export function writeInputs(folder: string, inputs: Inputs): void {
  writeFileSync(join(folder, list), JSON.stringify(inputs));
}

function readInputs(folder: string): Partial<Inputs> {
  return JSON.parse(readFileSync(join(folder, list), 'utf8')) as Inputs;
}

/**
 * @param names of the bundles
 * @param common files that decide how each is made
 * @param build writes one bundle and its source map into the folder
 */
export async function buildChanged(options: {
  readonly names: readonly string[];
  readonly common: readonly string[];
  readonly folder: string;
  readonly earlier: Earlier | undefined;
  readonly build: (name: string) => Promise<Built>;
}): Promise<Inputs> {
  const { names, common, folder, earlier, build } = options;
  const usable = earlier !== undefined && common.every((file) => earlier.isSame(file)) ? earlier : undefined;
  const known = usable === undefined ? {} : readInputs(usable.folder);
  const made: [string, Built][] = [];
  // One after another: several at once need 60 % more memory, whose pages the system clears first, and are not done earlier.
  for (const name of names) {
    const one = known[name];
    const kept =
      usable !== undefined && one?.inputs.every((file) => usable.isSame(file))
        ? take(name, one, usable.folder, folder)
        : undefined;
    made.push([name, kept ?? (await build(name))]);
  }
  return Object.fromEntries(made);
}

function take(name: string, built: Built, from: string, into: string): Built {
  for (const file of [`${name}.js`, `${name}.js.map`]) copyFileSync(join(from, file), join(into, file));
  return built;
}
