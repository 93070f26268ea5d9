/**
 * Each promised invariant of ingest, and each decision that code names, is proven by a test that carries its number at
 * the start of its title: `test('I5 a retried upload …')`, `test('D20 I7 …')`.
 */
import { filesToCheck, isSource, isTest, read, report } from './repository.ts';

/**
 * The invariants of docs/architecture.md "Ingest" that this version keeps. I6 (floor), I10 (deletes) and I13 (space)
 * are prepared: what they need is stored and tested, their whole machinery comes later. I15 (backup) is not there yet.
 */
export const promised: readonly string[] = [
  ...['I1', 'I2', 'I3', 'I4', 'I5', 'I7', 'I8', 'I9', 'I11', 'I12', 'I14'],
  ...['I6', 'I10', 'I13'],
];

const lastDecision = 32;

/** The numbers at the start of the titles of a test file. */
export function numbersInTitles(text: string): string[] {
  const titles = text.matchAll(
    /\b(?:test|it|describe)(?:\.\w+\([^)]*\))?(?:\.\w+)?\(\s*['"`]((?:[ID]\d+[\s,:]+(?:and\s+)?)+)/g,
  );
  return [...titles].flatMap(([, numbers = '']) => numbers.match(/[ID]\d+/g) ?? []);
}

/** The decisions that a source names, as "D20". */
export function decisionsIn(text: string): string[] {
  return [...text.matchAll(/\bD(\d{1,2})\b/g)]
    .map(([name]) => name)
    .filter((name) => Number(name.slice(1)) <= lastDecision);
}

if (import.meta.main) {
  const folders = ['apps', 'packages', 'conformance', 'tools', 'bench'];
  const files = filesToCheck(folders, isSource);
  const proven = new Set(files.filter(isTest).flatMap((path) => numbersInTitles(read(path))));
  const named = new Map<string, string>();
  for (const path of files.filter((path) => /^(apps|packages)\//.test(path) && !isTest(path))) {
    for (const decision of decisionsIn(read(path))) if (!named.has(decision)) named.set(decision, path);
  }
  report(
    'invariants',
    [
      ...promised
        .filter((number) => !proven.has(number))
        .map((number) => `${number} is promised, and no test's title starts with it`),
      ...[...named]
        .filter(([decision]) => !proven.has(decision))
        .map(([decision, path]) => `${decision} is named in ${path}, and no test's title starts with it`),
    ],
    `${files.length} files, ${promised.length} invariants, ${named.size} decisions`,
  );
}
