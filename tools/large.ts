/** Folders of more than 25 files and functions of more than 100 lines: what stays so has its reason in docs/architecture.md. */
import { dirname } from 'node:path';
import { filesToCheck, isSource, read, report } from './repository.ts';

export const mostFiles = 25;
export const mostLines = 100;

/** Folders with more files of source than that, and how many they have. */
export function largeFolders(paths: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > mostFiles));
}

export interface LongFunction {
  /** 'openStores', or the line that it begins on where it has no name. */
  readonly name: string;
  readonly lines: number;
}

const control = /^(?:\} )?(?:if|else|for|while|switch|do|try|catch|finally)\b/;
const named = /(?:function\*? (\w+)|^(?:const|let|export const) (\w+)\b.*|^(?:async |static |override |\*)*#?(\w+)\()/;

/** By the formatter's indentation: a function ends at the brace that stands as far to the left as the line that opens it. */
export function longFunctions(text: string): LongFunction[] {
  const lines = text.split('\n');
  const found: LongFunction[] = [];
  for (const [index, line] of lines.entries()) {
    const code = line.trimStart();
    const indent = line.length - code.length;
    if (!code.endsWith('{') || control.test(code) || !/(?:=>|\)(?:: [^;]+)?) \{$/.test(code)) continue;
    const end = lines.findIndex((other, at) => at > index && other.startsWith(`${' '.repeat(indent)}}`));
    // Parameters on lines of their own begin at the last line that stands as far to the left.
    const start = code.startsWith(')') ? lines.findLastIndex((other, at) => at < index && indentOf(other) === indent) : index;
    const length = end - start + 1;
    if (length <= mostLines) continue;
    const [, ...names] = named.exec((lines[start] ?? '').trim()) ?? [];
    found.push({ name: names.find((name) => name !== undefined) ?? `line ${start + 1}`, lines: length });
  }
  return found;
}

function indentOf(line: string): number {
  return line === '' ? Number.NaN : line.length - line.trimStart().length;
}

if (import.meta.main) {
  const files = filesToCheck(['apps', 'packages', 'tools', 'bench', 'conformance'], isSource);
  for (const [folder, count] of largeFolders(files)) console.log(`${folder}: ${count} files`);
  for (const path of files)
    for (const { name, lines } of longFunctions(read(path))) console.log(`${path}: ${name}, ${lines} lines`);
  void report;
}
