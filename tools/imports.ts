/** The imports of a source file, found in its text: sufficient for checkers, and independent of a compiler's API. */
import { dirname, join, normalize } from 'node:path';
import { withoutComments } from './repository.ts';

export interface Import {
  readonly specifier: string;
  /** Erased when the program runs. */
  readonly typeOnly: boolean;
  readonly line: number;
}

const statement = /(?:^|[\n;}])\s*(import|export)\s+(type\s+)?([^'"`;()]*?\sfrom\s*|)['"]([^'"\n]+)['"]/g;
const dynamic = /\bimport\s*\(\s*['"]([^'"\n]+)['"]/g;

const known = new Map<string, readonly Import[]>();

/** Each text is searched once. */
export function importsOf(text: string): readonly Import[] {
  const found = known.get(text) ?? findImports(text);
  known.set(text, found);
  return found;
}

function findImports(text: string): Import[] {
  const code = withoutComments(text);
  const found: Import[] = [];
  const lineAt = (index: number): number => code.slice(0, index).split('\n').length;
  for (const match of code.matchAll(statement)) {
    const [all, keyword, type, clause = '', specifier = ''] = match;
    // `export 'x'` is not an import; `import 'x'` is.
    if (clause === '' && keyword === 'export') continue;
    const typeOnly = type !== undefined || onlyTypes(clause);
    found.push({ specifier, typeOnly, line: lineAt(match.index + all.length) });
  }
  for (const match of code.matchAll(dynamic)) {
    found.push({ specifier: match[1] ?? '', typeOnly: false, line: lineAt(match.index) });
  }
  return found;
}

/** The files that a file imports from its workspace. @param path relative to the root, as the result. @param types also those of which it takes only types */
export function importedFiles(path: string, text: string, types = false): string[] {
  return importsOf(text)
    .filter(({ specifier, typeOnly }) => specifier.startsWith('.') && (types || !typeOnly))
    .map(({ specifier }) => normalize(join(dirname(path), specifier)));
}

/**
 * Files and what they load, directly or by others.
 * @param follow whether what a file loads counts. @param readText the text of a file, by its path
 */
export function loadedBy(
  files: readonly string[],
  follow: (path: string) => boolean,
  readText: (path: string) => string,
): ReadonlySet<string> {
  const loaded = new Set(files);
  for (const path of loaded)
    for (const next of follow(path) ? importedFiles(path, readText(path)) : []) loaded.add(next);
  return loaded;
}

/** `{ type A, type B } from`: every name is a type. */
function onlyTypes(clause: string): boolean {
  const names = /^\{([^}]*)\}\s*from\s*$/.exec(clause.trim())?.[1];
  if (names === undefined) return false;
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .every((name) => name.startsWith('type '));
}
