/**
 * Each invariant of ingest and each decision, the promised ones and those that code names, is proven by a test that carries its number at
 * the start of its title: `test('I5 a retried upload …')`, `test('D20 I7 …')`.
 */
import { filesToCheck, isSource, isTest, read, report } from './repository.ts';

const upTo = (letter: string, last: number): string[] =>
  Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);

/** Not built yet: money. D1 is the messages themselves, which other projects' clients prove. */
const unproven: readonly string[] = ['D1', 'D27', 'D28'];

/** The invariants of docs/architecture.md, and the decisions that this version keeps. */
export const promised: readonly string[] = [...upTo('I', 15), ...upTo('D', 32)].filter(
  (number) => !unproven.includes(number),
);

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
    `${files.length} files, ${promised.length} promised, ${named.size} decisions named`,
  );
}
