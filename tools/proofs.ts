/**
 * What each lane proves: the titles of its tests by file, in `proofs.txt`. A run of all tests fails if it has fewer, so that no proof is lost
 * unnoticed: a commit that removes or renames a test changes the file, too.
 *
 *   npm run proofs   writes the file from the titles that vitest collects, without running tests; about a minute
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stepsOf } from './gate.ts';
import { read, root } from './repository.ts';
import { collectTitles, type Proof } from './run-tests.ts';

export const gateLane = 'gate';
const gateFile = 'tools/gate.ts';
/** Parts of `npm test` that are processes of their own, with `CI=true`. */
export const processLanes = [
  { lane: 'packed', file: 'tools/pack-check.ts' },
  { lane: 'image', file: 'tools/image-check.ts' },
] as const;

const proofsFile = 'tools/proofs.txt';
const longestTitle = 160;
/** Of lost ones: more are gone with a lane, or a folder. */
const mostShown = 200;

/**
 * A title as one line: long ones are cut and end with a hash, and what depends on the account that runs the test is left out.
 */
export function lineOf(title: string): string {
  const line = title
    .replaceAll(/ \([^()]*not run as root\)/g, '')
    .replaceAll(/[\\\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (line.length <= longestTitle) return line;
  return `${line.slice(0, longestTitle)}… ${createHash('sha256').update(line).digest('hex').slice(0, 8)}`;
}

/** One heading for each file, with its lanes and the number of titles; then the titles, sorted. Titles of some lanes only have their own. */
export function formatProofs(proofs: readonly Proof[]): string {
  const lanesOf = new Map<string, string[]>();
  const seen = new Map<string, number>();
  for (const { lane, file, title } of proofs) {
    const line = lineOf(title);
    // A file may have the same title twice in a lane.
    const earlier = seen.get(JSON.stringify([lane, file, line])) ?? 0;
    seen.set(JSON.stringify([lane, file, line]), earlier + 1);
    const key = JSON.stringify([file, line, earlier]);
    lanesOf.set(key, [...(lanesOf.get(key) ?? []), lane]);
  }
  const groups = new Map<string, string[]>();
  for (const [key, lanes] of lanesOf) {
    const [file, line] = JSON.parse(key) as [string, string];
    const heading = `${file} ${lanes.toSorted().join(' ')}`;
    groups.set(heading, [...(groups.get(heading) ?? []), line]);
  }
  return [...groups]
    .toSorted(([a], [b]) => compare(a, b))
    .map(
      ([heading, lines]) =>
        `${heading} ${lines.length}\n${lines
          .toSorted(compare)
          .map((line) => `  ${line}\n`)
          .join('')}`,
    )
    .join('');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The reverse of `formatProofs`; titles as `lineOf` writes them. */
export function parseProofs(text: string): Proof[] {
  const proofs: Proof[] = [];
  let [file, lanes]: [string, readonly string[]] = ['', []];
  for (const line of text.split('\n')) {
    if (line.startsWith('  ')) for (const lane of lanes) proofs.push({ lane, file, title: line.slice(2) });
    else if (line !== '') {
      const [path = '', ...words] = line.split(' ');
      [file, lanes] = [path, words.slice(0, -1)];
    }
  }
  return proofs;
}

/** What `proofs` has and `others` lacks, each as often as it is missing; titles as `lineOf` writes them. */
export function without(proofs: readonly Proof[], others: readonly Proof[]): Proof[] {
  const keyOf = ({ lane, file, title }: Proof): string => JSON.stringify([lane, file, title]);
  const left = new Map<string, number>();
  for (const other of others) left.set(keyOf(other), (left.get(keyOf(other)) ?? 0) + 1);
  return proofs.filter((proof) => {
    const count = left.get(keyOf(proof)) ?? 0;
    if (count > 0) left.set(keyOf(proof), count - 1);
    return count === 0;
  });
}

export interface ProofsOfRun {
  readonly proofs: readonly Proof[];
  /** Paths of files that could not be loaded, which is a failure already. */
  readonly broken: ReadonlySet<string>;
  /** Lanes that ran to their end. */
  readonly ran: ReadonlySet<string>;
}

/** Compares a run of all tests with the committed file, and says what was lost and how many proofs are new. @returns whether nothing was lost */
export function checkProofs({ proofs, broken, ran }: ProofsOfRun, committed: string = read(proofsFile)): boolean {
  const counts = ({ lane, file }: Proof): boolean => ran.has(lane) && !broken.has(file);
  const expected = parseProofs(committed).filter(counts);
  const found = proofs.filter(counts).map((proof) => ({ ...proof, title: lineOf(proof.title) }));
  const lost = without(expected, found);
  const added = without(found, expected);
  if (added.length > 0)
    console.log(`       proofs that are new, and not in ${proofsFile}: ${added.length}; npm run proofs adds them`);
  const lanes = Map.groupBy(found, ({ lane }) => lane);
  const total = [...lanes].map(([lane, { length }]) => `${lane} ${length}`).join(', ');
  if (lost.length === 0) {
    console.log(`ok     proofs (${total})`);
    return true;
  }
  console.log(
    `FAILED proofs (${total}), of which are gone: ${lost.length}. To remove or rename them on purpose, commit what npm run proofs writes`,
  );
  for (const { lane, file, title } of lost.slice(0, mostShown)) console.log(`  ${file} (${lane}): ${title}`);
  if (lost.length > mostShown) console.log(`  … and ${lost.length - mostShown} more`);
  return false;
}

export const gateProofs = (): Proof[] => stepsOf().map(({ name }) => ({ lane: gateLane, file: gateFile, title: name }));

/** The titles in the source of a check that is a process of its own. */
export function titlesInSource(text: string): string[] {
  return [...text.matchAll(/\bstep\(\s*'([^'\n]+)'/g)].map(([, title = '']) => title);
}

async function main(): Promise<void> {
  const { proofs, problems } = await collectTitles();
  if (problems.length > 0) {
    for (const problem of problems) console.error(problem);
    process.exit(1);
  }
  const ofProcesses = processLanes.flatMap(({ lane, file }) =>
    titlesInSource(read(file)).map((title): Proof => ({ lane, file, title })),
  );
  const all = [...proofs, ...gateProofs(), ...ofProcesses];
  writeFileSync(join(root, proofsFile), formatProofs(all));
  const lanes = Map.groupBy(all, ({ lane }) => lane);
  for (const [lane, { length }] of lanes) console.log(`${lane}: ${length}`);
  process.exit(0);
}

if (import.meta.main) await main();
