import { expect, test, vi } from 'vitest';
import { checkProofs, formatProofs, lineOf, parseProofs, processLanes, titlesInSource } from './proofs.ts';
import { read } from './repository.ts';
import type { Proof } from './run-tests.ts';

const proof = (lane: string, file: string, title: string): Proof => ({ lane, file, title });
const run: readonly Proof[] = [
  proof('sqlite', 'a.test.ts', 'one'),
  proof('sqlite', 'a.test.ts', 'two'),
  proof('sqlite', 'a.test.ts', 'two'),
  proof('sqlite', 'b.test.ts', 'only here'),
  proof('postgres', 'a.test.ts', 'one'),
];

/** What the check prints, and whether it passes. */
function check(
  proofs: readonly Proof[],
  { broken = [], ran = ['sqlite', 'postgres'] }: { broken?: readonly string[]; ran?: readonly string[] } = {},
): { passed: boolean; said: string } {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  try {
    const passed = checkProofs({ proofs, broken: new Set(broken), ran: new Set(ran) }, formatProofs(run));
    return { passed, said: lines.join('\n') };
  } finally {
    log.mockRestore();
  }
}

test('proofs are listed by file with their lanes and their number, and read back', () => {
  const text = formatProofs(run);
  expect(text).toBe(
    'a.test.ts postgres sqlite 1\n  one\na.test.ts sqlite 2\n  two\n  two\nb.test.ts sqlite 1\n  only here\n',
  );
  expect(formatProofs(parseProofs(text))).toBe(text);
  expect(formatProofs(run.toReversed())).toBe(text);
});

test('a title takes one line, is cut if it is long, and does not depend on the account that runs the test', () => {
  expect(lineOf('two\nlines \\ and \ud800')).toBe('two\\u000alines \\u005c and \\ud800');
  const [long, other] = [lineOf(`${'x'.repeat(500)}a`), lineOf(`${'x'.repeat(500)}b`)];
  expect(long.length).toBeLessThan(180);
  expect(long).not.toBe(other);
  expect(lineOf('D30 another account (by permissions: not run as root) reaches it')).toBe(
    'D30 another account reaches it',
  );
});

test('a run that lacks a title, one of two equal ones, or a whole file, fails and names them; a new title is told and passes', () => {
  expect(check(run)).toEqual({ passed: true, said: 'ok     proofs (sqlite 4, postgres 1)' });
  expect(check(run.filter(({ title }) => title !== 'one'))).toMatchObject({ passed: false });
  const lost = check([...run.slice(1, 2), ...run.slice(4), proof('sqlite', 'a.test.ts', 'new')]);
  expect(lost.passed).toBe(false);
  expect(lost.said).toContain('of which are gone: 3');
  for (const line of ['a.test.ts (sqlite): one', 'a.test.ts (sqlite): two', 'b.test.ts (sqlite): only here'])
    expect(lost.said).toContain(`  ${line}`);
  const added = check([...run, proof('sqlite', 'a.test.ts', 'new')]);
  expect(added).toMatchObject({ passed: true, said: expect.stringContaining('not in tools/proofs.txt: 1') });
});

test('a lane that need not run, and a file that did not load, lose nothing; a lane without any test does', () => {
  const one = run.filter(({ lane }) => lane === 'sqlite');
  expect(check(one).said).toContain('a.test.ts (postgres): one');
  expect(check(one, { ran: ['sqlite'] }).passed).toBe(true);
  const loaded = run.filter(({ file }) => file !== 'b.test.ts');
  expect(check(loaded, { broken: ['b.test.ts'] }).passed).toBe(true);
});

test('the steps of the checks that are processes of their own are found in their sources', () => {
  const titles = processLanes.flatMap(({ file }) => titlesInSource(read(file)));
  expect(titles).toEqual(
    expect.arrayContaining([
      'installed globally, both commands start',
      'without the Node packages an old Node gets one line',
      'every step of deploy/Dockerfile runs',
    ]),
  );
});
