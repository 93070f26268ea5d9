/**
 * Each rule of ingest (I…) and each decision (D…) of docs/specs, but those that are planned, is proven by a test that carries its number
 * at the start of its title: `test('I5 a retried upload …')`, `test('D20 I7 …')`.
 */
import { filesToCheck, isSource, isTest, read, report } from './repository.ts';
import { allRules } from './rules.ts';

/** D1 is the messages themselves, which other projects' clients prove. */
const provenElsewhere: readonly string[] = ['D1'];

/** The numbers at the start of the titles of a test file. */
export function numbersInTitles(text: string): string[] {
  const titles = text.matchAll(
    /\b(?:test|it|describe)(?:\.\w+\([^)]*\))?(?:\.\w+)?\(\s*['"`]((?:[ID]\d+[\s,:]+(?:and\s+)?)+)/g,
  );
  return [...titles].flatMap(([, numbers = '']) => numbers.match(/[ID]\d+/g) ?? []);
}

if (import.meta.main) {
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
