import { expect, test } from 'vitest';
import { commandsIn, createChecker } from './check-commands.ts';
import { circles, countedImports } from './check-cycles.ts';
import { numbersInTitles } from './check-invariants.ts';
import { doubleRules, functionsIn, pathsIn, referencesIn, unlistedPages } from './check-references.ts';
import { checkSideEffects } from './check-side-effects.ts';
import { filesToCheck, isSource, tracked } from './repository.ts';
import { rulesIn } from './rules.ts';
import { largeFolders, longFunctions } from './sizes.ts';

test('numbers count only at the start of a test title', () => {
  const text = `test('I5 D13 a retry', () => {}); test("no I9 here"); test.each([1])('I7 %s', f); it(\`D4, D20: x\`)`;
  expect(numbersInTitles(text)).toEqual(['I5', 'D13', 'I7', 'D4', 'D20']);
});

test('rules that a page defines, including planned ones', () => {
  const text = '- **I5** A retry …\n  - **D2** indented\n- **D27** (Planned.) Money …\nas I6 says';
  expect(rulesIn('docs/specs/a.md', text)).toEqual([
    { number: 'I5', page: 'docs/specs/a.md', isPlanned: false },
    { number: 'D27', page: 'docs/specs/a.md', isPlanned: true },
  ]);
  const [rule] = rulesIn('docs/specs/a.md', text);
  expect(doubleRules(rule === undefined ? [] : [rule, { ...rule, page: 'docs/specs/b.md' }])).toEqual([
    'docs/specs/b.md: I5 is defined on docs/specs/a.md already',
  ]);
});

test('rules and records that a text names; other letters and numbers are ignored', () => {
  const names = referencesIn('// D16, (I4–I6) ADR-0012\n3D6 D128 UUID4 #D1 R16: T00').map(({ name }) => name);
  expect(names).toEqual(['D16', 'I4', 'I6', 'ADR-0012', 'R16']);
});

test('files that a document refers to; other sites and headings are ignored', () => {
  const text = 'See [x](../guides/tls.md#how), `apps/cloud/src/main.ts`, [y](https://example.com/a.md) and [z](#here).';
  expect(pathsIn('docs/specs/a.md', text).map(({ path }) => path)).toEqual([
    'docs/guides/tls.md',
    'apps/cloud/src/main.ts',
  ]);
});

test('pages that the list of pages does not link are found; records are listed as a folder', () => {
  const list = '[TLS](guides/tls.md#how) and [Ingest](specs/ingest.md)';
  const pages = ['README.md', 'guides/tls.md', 'guides/new.md', 'specs/ingest.md', 'decisions/ADR-0001-a.md'];
  expect(
    unlistedPages(
      list,
      pages.map((page) => `docs/${page}`),
    ),
  ).toEqual(['docs/guides/new.md']);
});

test('functions that a table row names after a path are found', () => {
  const row = '| 1 | `apps/a/src/b.ts` | `Graph.apply`, `plan` | what `holds` in `apps/a/src/c.ts` |';
  expect(functionsIn(`text\n${row}`)).toEqual([
    { path: 'apps/a/src/b.ts', name: 'apply', line: 2 },
    { path: 'apps/a/src/b.ts', name: 'plan', line: 2 },
  ]);
});

test('the file system is refused outside the listed files, its types are not', () => {
  const text = `import type { Stats } from 'node:fs';\nimport {\n  readFile,\n} from 'node:fs/promises';`;
  expect(checkSideEffects('apps/cloud/src/triggers/a.ts', text)).toEqual([
    'apps/cloud/src/triggers/a.ts:4: file system used outside the named files; take a store, or a function that reads',
  ]);
  expect(checkSideEffects('apps/cloud/src/blobs/a.ts', text)).toEqual([]);
});

test('a command of the command line uses its process only through what it is given', () => {
  const text = `process.stdout.write(''); context.invocation.stdout.write('');\nprocess.exitCode = 1;`;
  expect(checkSideEffects('apps/cli/src/data/a.ts', text).map((problem) => problem.split(' used ')[0])).toEqual([
    'apps/cli/src/data/a.ts:1: process of the command line',
    'apps/cli/src/data/a.ts:2: process of the command line',
  ]);
  for (const path of ['apps/cli/src/main.ts', 'apps/cloud/src/a.ts']) expect(checkSideEffects(path, text)).toEqual([]);
});

test('clock, timers, randomness, environment and fetch are refused outside the listed files, but not in comments', () => {
  const text = `const t = Date.now(); setTimeout(f, 1); Math.random(); process.env.X; fetch('x') // Date.now()`;
  expect(checkSideEffects('apps/cloud/src/ingest/a.ts', text)).toHaveLength(5);
  expect(checkSideEffects('apps/cloud/src/ingest/a.test.ts', text)).toEqual([]);
  expect(checkSideEffects('packages/base/src/async/clock.ts', '// Date.now()\nDate.now()')).toEqual([]);
});

test('a checker sees every file that git lists, and fails if it sees none', () => {
  const files = filesToCheck(['tools'], isSource);
  expect(files.length).toBeGreaterThanOrEqual(tracked(['tools'], isSource).length);
  expect(files).toContain('tools/checkers.test.ts');
  expect(() => filesToCheck(['tools'], () => false)).toThrow('saw no file');
  expect(() => filesToCheck(['no-such-folder'], isSource)).toThrow('saw no file');
});

test('which files a checker sees does not depend on the folder that holds the clone, such as ~/src/platform', () => {
  const asked: string[] = [];
  filesToCheck(['tools'], (path) => asked.push(path) > 0 && isSource(path));
  expect(asked.filter((path) => !path.startsWith('tools/'))).toEqual([]);
});

test('imports form a cycle; in the cloud, imports of types do not', () => {
  const text = `import { b } from './b.ts';\nimport type { C } from './c.ts';\nimport { type D } from './d.ts';\nawait import('./e.ts');`;
  expect(countedImports('apps/cloud/src/a.ts', text)).toEqual(['apps/cloud/src/b.ts', 'apps/cloud/src/e.ts']);
  expect(countedImports('packages/x/a.ts', text)).toEqual(['b', 'c', 'd', 'e'].map((name) => `packages/x/${name}.ts`));
  const graph = new Map([
    ['a', ['b', 'c']],
    ['b', ['d']],
    ['c', []],
    ['d', ['a']],
    ['e', ['e']],
    ['f', ['a']],
  ]);
  expect(circles(graph)).toEqual([['a', 'b', 'd'], ['e']]);
});

test('folders of more than 25 files and functions of more than 100 lines are found by name; test suites are not counted', () => {
  const files = Array.from({ length: 26 }, (_, index) => `a/b/${index}.ts`);
  expect([...largeFolders([...files, 'a/c.ts'])]).toEqual([['a/b', 26]]);
  const body = Array.from({ length: 98 }, () => '  x();').join('\n');
  const many = `  y();\n${body}`;
  expect([...longFunctions(`function short() {\n${body}\n}`)]).toEqual([]);
  expect([...longFunctions(`export function long(\n  a: number,\n): void {\n${many}\n}`)]).toEqual([['long', 103]]);
  expect([...longFunctions(`const arrow = (): void => {\n${many}\n};`)]).toEqual([['arrow', 101]]);
  expect([...longFunctions(`test('a', () => {\n${many}\n});\nif (a(b)) {\n${many}\n}`)]).toEqual([]);
});

test('commands are found in shell blocks and between backticks, without comments, assignments and redirections', () => {
  const text = [
    'Run `platform data binary list|download` or `platform query … --explain`, not `ls`.',
    '```sh',
    `PLATFORM_HOME='a b' npm start | head -3   # starts; it`,
    `platform query sql "SELECT 1 > 0" > 'a file' && curl -H "x: $(platform token)" https://example.com`,
    `platform query mql '[{"$limit":3}]'`,
    '```',
    '```json',
    'platform none',
    '```',
  ].join('\n');
  expect(commandsIn(text)).toEqual([
    { words: ['platform', 'data', 'binary', 'list'], line: 1, isWhole: false },
    { words: ['platform', 'query'], line: 1, isWhole: false },
    { words: ['npm', 'start'], line: 3, isWhole: true },
    { words: ['platform', 'token'], line: 4, isWhole: true },
    { words: ['platform', 'query', 'sql', 'SELECT 1 > 0'], line: 4, isWhole: true },
    { words: ['platform', 'query', 'mql', '[{"$limit":3}]'], line: 5, isWhole: true },
  ]);
});

test('a printed command is parsed by the real command line; a mentioned one may lack arguments', () => {
  const check = createChecker(new Set(['test', 'check']));
  const problemOf = (text: string, isWhole = true) => check({ words: text.split(' '), line: 1, isWhole });
  expect(problemOf('platform config diff press-7 3 7')).toBeUndefined();
  expect(problemOf('platform config dif press-7')).toContain("unknown command 'dif'");
  expect(problemOf('platform config diff press-7 3 7 9')).toContain('too many arguments');
  expect(problemOf('platform data export')).toContain("required option '--part <part>'");
  expect(problemOf('platform data export', false)).toBeUndefined();
  expect(problemOf('platform data export --parts 1', false)).toContain("unknown option '--parts'");
  expect(problemOf('npm start -- --port 0 --hots x')).toContain("unknown option '--hots'");
  expect(problemOf('npm run check')).toBeUndefined();
  expect(problemOf('npm run chek')).toBe('package.json has no script "chek"');
  expect(problemOf('node tools/run.js whoami')).toBeUndefined();
  expect(problemOf('node tools/nothing.js')).toBe('tools/nothing.js does not exist');
  expect(check({ words: ['platform', 'whoami'], line: 1, isWhole: true, of: 'platform token' })).toBe(
    'runs platform whoami',
  );
});
