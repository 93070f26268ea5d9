/**
 * Checks that each rule of ingest (I…) and each decision (D…) in docs/specs, except planned ones, is proven by a test whose title starts
 * with its number: `test('I5 a retried upload …')`, `test('D20 I7 …')`.
 */
import { filesToCheck, isSource, isTest, read, report } from './repository.ts';
import { allRules } from './rules.ts';

/** D1 is the messages themselves; clients of other projects prove it. */
const provenElsewhere: readonly string[] = ['D1'];

/** The numbers at the start of the titles of a test file. */
export function numbersInTitles(text: string): string[] {
  const titles = text.matchAll(
    /\b(?:test|it|describe)(?:\.\w+\([^)]*\))?(?:\.\w+)?\(\s*['"`]((?:[ID]\d+[\s,:]+(?:and\s+)?)+)/g,
  );
  return [...titles].flatMap(([, numbers = '']) => numbers.match(/[ID]\d+/g) ?? []);
}

export function main(): void {
  const files = filesToCheck(['apps', 'packages', 'conformance', 'tools', 'bench'], isSource);
  const proven = new Set(files.filter(isTest).flatMap((path) => numbersInTitles(read(path))));
  const promised = allRules().filter(
    ({ number, isPlanned }) => /^[ID]/.test(number) && !isPlanned && !provenElsewhere.includes(number),
  );
  report(
    'invariants',
    promised
      .filter(({ number }) => !proven.has(number))
      .map(({ number, page }) => `${page}: ${number} is promised, and no test's title starts with it`),
    `${files.length} files, ${promised.length} promised`,
  );
}

if (import.meta.main) main();
