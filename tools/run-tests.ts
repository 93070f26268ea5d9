import { startVitest } from 'vitest/node';
import { root } from './repository.ts';

export interface TestCount {
  readonly passed: number;
  readonly failed: number;
}

export interface TestChoice {
  /** Parts of paths; if empty, every test. */
  readonly filters?: readonly string[];
  /** Globs of tests to exclude. */
  readonly exclude?: readonly string[];
  /** Only tests that uncommitted changes can affect. */
  readonly changed?: boolean;
}

/** Runs tests in this process with vitest. A file that does not load, or an error outside any test, counts as one failure. */
export async function runTests({ filters = [], exclude = [], changed = false }: TestChoice): Promise<TestCount> {
  const vitest = await startVitest('test', [...filters], {
    root,
    run: true,
    watch: false,
    ...(exclude.length > 0 ? { exclude: ['**/node_modules/**', ...exclude] } : {}),
    ...(changed ? { changed: true } : {}),
  });
  const count = { passed: 0, failed: vitest.state.getUnhandledErrors().length };
  for (const module of vitest.state.getTestModules()) {
    const tests = [...module.children.allTests()];
    const failedBefore = count.failed;
    for (const test of tests) {
      const { state } = test.result();
      if (state === 'passed') count.passed++;
      // A skipped, pending or unfocused test proves nothing: the house style allows none.
      else count.failed++;
    }
    const broken = module.state() === 'failed' && count.failed === failedBefore;
    if (broken || module.errors().length > 0) count.failed++;
  }
  await vitest.close();
  return count;
}

/** The plain closing line that CI reads. */
export function closingLine({ passed, failed }: TestCount): string {
  return `${passed} passed, ${failed} failed`;
}
