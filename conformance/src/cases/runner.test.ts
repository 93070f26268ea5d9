/** The runner from the outside: output, last line, exit code. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOptions, UsageFault } from './options.ts';
import { runFiles } from './run-files.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'platform-cases-'));
const plain = join(folder, 'plain.jsonl');
const packed = join(folder, 'packed.jsonl.gz');

const one = { $numberInt: '1' };
const common = { source: 'own', docs: [{ a: one, b: null }], ordered: true };
const passing = { ...common, name: 'passes', pipeline: [{ $limit: one }], expected: [{ a: one, b: null }] };
const failing = { ...common, name: 'fails', pipeline: [{ $skip: one }], expected: [{ a: one, b: null }] };

beforeAll(() => {
  writeFileSync(plain, `${JSON.stringify(passing)}\n${JSON.stringify(failing)}\n`);
  writeFileSync(packed, gzipSync(`${JSON.stringify(passing)}\n`));
});

afterAll(() => rmSync(folder, { recursive: true }));

test('the last line is one object with the counts of each file, also by stage', () => {
  const { status, lines } = run(plain, packed, '--json');
  const figures = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
  expect(figures[plain]).toMatchObject({
    cases: 2,
    passed: 1,
    byStage: { $limit: { cases: 1, passed: 1 }, $skip: { cases: 1, passed: 0 } },
  });
  expect(figures[packed]).toMatchObject({ cases: 1, passed: 1 });
  expect(status).toBe(0);
});

test('failures are named, and shown with query, expectation and outcome', () => {
  const { lines } = run(plain, '--show', '1');
  expect(lines).toContain('  fails');
  expect(lines).toContain('  query    [{"$skip":{"$numberInt":"1"}}]');
  expect(lines).toContain('  expected [{"a":{"$numberInt":"1"},"b":null}]');
  expect(lines).toContain('  actual   []');
});

test('every actual result is written in canonical Extended JSON', () => {
  const out = join(folder, 'out.jsonl');
  run(plain, '--emit', out);
  const written = readFileSync(out, 'utf8').trim().split('\n');
  expect(written.map((line): unknown => JSON.parse(line))).toEqual([
    { file: plain, line: 1, name: 'passes', result: [{ a: one, b: null }] },
    { file: plain, line: 2, name: 'fails', result: [] },
  ]);
});

test('the self-test alters passed expectations and succeeds if every alteration is noticed', () => {
  const { status, lines } = run(packed, '--self-test');
  expect(lines).toContainEqual(expect.stringMatching(/^self-test: 3 of 3 altered expectations failed/));
  expect(status).toBe(0);
});

test('a self-test without anything to alter fails', () => {
  expect(run(plain, '--only', '^fails$', '--self-test').status).toBe(1);
});

test('only matching cases are run', () => {
  const { lines } = run(plain, '--only', '$skip', '--json');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ [plain]: { cases: 1, passed: 0 } });
});

test('with --pushdown the cases also go through store and DuckDB', () => {
  const { status, lines } = run('--pushdown', plain);
  expect(lines).toContain('push-down: 2 of 2 cases through store and DuckDB, 0 differ');
  expect(lines).toContain('  0 with their documents, 2 with their documents as machines could send them');
  expect(status).toBe(0);
});

test('an error in the command line gives exit code 2, and states the problem and the usage', () => {
  const { status, errors } = run('--unknown', plain);
  expect(errors).toContain('--unknown');
  expect(errors).toContain('npm run conformance -- FILE');
  expect(status).toBe(2);
});

test.each([
  ['no file', [], 'at least one case file'],
  ['a file that is not there', [join(folder, 'none.jsonl')], 'cannot be read'],
  ['a file of something else', [main], 'line 1 is not a case'],
  ['an invalid pattern', [plain, '--only', '('], 'regular expression'],
  ['an invalid number', [plain, '--show', 'x'], '--show'],
  ['an option that is not known', [plain, '--unknown'], '--unknown'],
])('%s is refused as usage', async (_, args, reason) => {
  await expect(async () => runFiles(readOptions(args)).next()).rejects.toThrow(reason);
  await expect(async () => runFiles(readOptions(args)).next()).rejects.toBeInstanceOf(UsageFault);
});

function run(...args: string[]): { status: number | null; lines: string[]; errors: string } {
  const flags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, main, ...args], { encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n'), errors: stderr };
}
