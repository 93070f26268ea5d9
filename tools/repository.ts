/** The files of this repository that the checkers see. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

const skipped = new Set(['node_modules', 'dist', 'build', '.svelte-kit', '.git', '.platform', 'coverage', 'gen']);

/**
 * Paths of the files found by walking the folders, without generated and installed ones. They are relative to the root, for `keep` too: the
 * name of a folder around the clone decides nothing.
 */
export function walk(folders: readonly string[], keep: (path: string) => boolean): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (skipped.has(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (keep(path)) found.push(path);
    }
  };
  for (const folder of folders) if (existsSync(join(root, folder))) visit(folder);
  return found.sort();
}

/** Paths below the folders that git tracks and that exist on disk. */
export function tracked(folders: readonly string[], keep: (path: string) => boolean): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--', ...folders], { cwd: root, encoding: 'utf8' });
  const parts = (path: string): string[] => path.split('/');
  return listed
    .split('\0')
    .filter((path) => path !== '' && keep(path) && !parts(path).some((part) => skipped.has(part)))
    .filter((path) => existsSync(join(root, path)))
    .sort();
}

/**
 * The files to check: those that the walk finds. Throws if the walk missed a file that git tracks, or found none, so that a checker that
 * looks in the wrong place cannot pass.
 */
export function filesToCheck(folders: readonly string[], keep: (path: string) => boolean): string[] {
  const found = walk(folders, keep);
  const seen = new Set(found);
  const missed = tracked(folders, keep).filter((path) => !seen.has(path));
  if (missed.length > 0) throw new Error(`saw fewer files than git lists: missed ${missed.join(', ')}`);
  if (found.length === 0) throw new Error(`saw no file in ${folders.join(', ')}`);
  return found;
}

const texts = new Map<string, string>();

/** The text of a file, which is read once. @param path relative to the root */
export function read(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8');
  texts.set(path, text);
  return text;
}

export const isSource = (path: string): boolean => /\.(ts|js)$/.test(path) && !path.endsWith('.d.ts');
/** Tests, and code that only tests use: folders `test` and `testing`. */
export const isTest = (path: string): boolean => /\.test\.ts$|\/test(?:ing)?\//.test(path);

/** Source text without comments; strings and line numbers are kept. */
export function withoutComments(text: string): string {
  return text.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (all, quoted) => (quoted === undefined ? all.replace(/[^\n]/g, '') : quoted),
  );
}

/** Prints the problems and sets the exit code. */
export function report(checker: string, problems: readonly string[], seen: string): void {
  for (const problem of problems) console.error(problem);
  console.log(`${checker}: ${problems.length} problems in ${seen}`);
  if (problems.length > 0) process.exitCode = 1;
}
