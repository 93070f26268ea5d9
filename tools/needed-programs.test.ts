import { expect, test } from 'vitest';
import { callersOf, describeMissing, type MissingProgram, neededPrograms, sentenceOf } from './needed-programs.ts';
import { read, walk } from './repository.ts';

const tests = walk(['apps', 'packages', 'conformance', 'tools'], (path) => path.endsWith('.test.ts'));
// Not by their quoted names, by which this file would be found itself.
const callsOf = (named: RegExp): string[] => {
  const { called } = neededPrograms.find(({ name }) => named.test(name)) ?? {};
  return called === undefined ? [] : callersOf(called, tests, read);
};

test('a test file waits for a program that it calls, or that code for tests calls which it loads', () => {
  const texts: Record<string, string> = {
    'apps/a/src/own.test.ts': "spawn('tracer')",
    'apps/a/src/through.test.ts': "import { trace } from './testing/trace.ts';",
    'apps/a/src/types.test.ts': "import type { Trace } from './testing/trace.ts';",
    'apps/a/src/product.test.ts': "import { run } from './run.ts';",
    'apps/a/src/testing/trace.ts': "spawn('tracer')",
    'apps/a/src/run.ts': "spawn('tracer')",
  };
  const files = Object.keys(texts).filter((path) => path.endsWith('.test.ts'));
  expect(callersOf(/'tracer'/, files, (path) => texts[path] ?? '')).toEqual([
    'apps/a/src/own.test.ts',
    'apps/a/src/through.test.ts',
  ]);
});

test('of this repository, the tests that wait for each program are found', () => {
  expect(callsOf(/Chromium/)).toEqual(
    expect.arrayContaining(['conformance/src/status-page.test.ts', 'conformance/src/web-ui/journeys.test.ts']),
  );
  expect(callsOf(/strace/)).toContain('apps/cloud/src/ingest/log/power-cut.slow.test.ts');
  expect(callsOf(/strace/)).not.toContain('packages/query/src/functions/object.test.ts');
  expect(callsOf(/systemd-analyze/)).toContain('tools/deploy.test.ts');
  expect(callsOf(/pdftotext/)).toEqual(['apps/cloud/src/billing/pdf/pdf.test.ts']);
  expect(callsOf(/Python/)).toEqual(['apps/machine-server/src/modules/modules.test.ts']);
  expect(callsOf(/curl/)).toEqual(['conformance/src/remote/connect-machine.test.ts']);
});

test('what is missing is named with the command that installs it, and with the tests that fail until then', () => {
  const missing: MissingProgram[] = [
    { name: 'tracer', packages: ['tracer'], isPresent: () => false, tests: ['a.test.ts', 'b.test.ts'] },
    { name: 'git', packages: ['git'], isPresent: () => false, part: 'the gate', tests: [] },
  ];
  const said = describeMissing(missing, false);
  expect(said).toContain('Missing on this computer: tracer, git.');
  expect(said).toContain('npm test -- --install');
  expect(said).toContain('sudo apt-get install --no-install-recommends tracer git');
  expect(said).toContain('tracer: 2 test files will fail: a.test.ts, b.test.ts');
  expect(said).toContain('git: the gate');
  expect(describeMissing(missing, true)).not.toContain('sudo');
  expect(sentenceOf(missing[0] as MissingProgram, true)).toBe(
    'tracer is missing on this computer. Install it with "apt-get install --no-install-recommends tracer" or "npm test -- --install"',
  );
});
