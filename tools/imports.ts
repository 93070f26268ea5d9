/** The imports of a source file, found in its text: sufficient for checkers, and independent of a compiler's API. */
import { withoutComments } from './repository.ts';

export interface Import {
  readonly specifier: string;
  /** Erased when the program runs. */
  readonly typeOnly: boolean;
  readonly line: number;
}

const statement = /(?:^|[\n;}])\s*(import|export)\s+(type\s+)?([^'"`;()]*?\sfrom\s*|)['"]([^'"\n]+)['"]/g;
const dynamic = /\bimport\s*\(\s*['"]([^'"\n]+)['"]/g;

export function importsOf(text: string): Import[] {
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
