/**
 * Checks that depend only on a few files run again only when these have changed: the last pass leaves a stamp with their hash in
 * `$XDG_CACHE_HOME/platform-workspace/checks/`, outside the clone, so that it holds for every clone of this account. A crash leaves none.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { loadedBy } from './imports.ts';
import { read, root } from './repository.ts';

interface Stamp {
  readonly key: string;
  /** When it passed, in ISO 8601. */
  readonly passedAt: string;
}

export interface KeyedCheck {
  /** What to print if the last pass was with the same files; undefined: run it. */
  readonly unchanged: string | undefined;
  /** It passed now. */
  passed(): void;
}

const variable = 'XDG_CACHE_HOME';

function defaultFolder(): string {
  return join(process.env[variable] || join(homedir(), '.cache'), 'platform-workspace', 'checks');
}

/** @param name of the stamp; a stamp of other files is replaced. @param key of `keyOf` */
export function keyedCheck(name: string, key: string, folder: string = defaultFolder()): KeyedCheck {
  const file = join(folder, `${name}.json`);
  const stamp = readStamp(file);
  return {
    unchanged: stamp?.key === key ? `unchanged since it passed on ${stamp.passedAt}, key ${key}` : undefined,
    passed() {
      mkdirSync(folder, { recursive: true });
      const draft = `${file}.${process.pid}`;
      const content: Stamp = { key, passedAt: new Date().toISOString() };
      writeFileSync(draft, `${JSON.stringify(content)}\n`);
      renameSync(draft, file);
    },
  };
}

function readStamp(file: string): Stamp | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Stamp;
  } catch {
    // Absent or damaged: the check runs.
    return undefined;
  }
}

/**
 * The files that decide what is installed from the registry and how it starts: package files, lockfile and launchers, besides those of a
 * tool. @param patterns of git, for more. @param tools programs in tools/, with the files of tools/ that they load
 */
export function inputsOf(tools: readonly string[], patterns: readonly string[] = []): string[] {
  const always = ['package-lock.json', '*package.json', 'apps/*/bin/*'];
  const listed = execFileSync('git', ['ls-files', '-z', '--', ...always, ...patterns], { cwd: root, encoding: 'utf8' });
  const files = [...listed.split('\0').filter(Boolean), ...tools];
  return [...loadedBy(files, (path) => path.startsWith('tools/'), read)].toSorted();
}

/** @param more other things that decide, such as versions. @param readText the text of a file, by its path */
export function keyOf(
  files: readonly string[],
  more: readonly string[],
  readText: (path: string) => string = read,
): string {
  const hash = createHash('sha256').update(JSON.stringify(more));
  for (const file of files) hash.update(JSON.stringify([file, readText(file)]));
  return hash.digest('hex').slice(0, 16);
}
