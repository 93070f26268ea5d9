import { relative } from 'node:path';
import { createVitest, startVitest, type TestModule } from 'vitest/node';
import type { TestCount } from './closing-line.ts';
import { missingProgramsVariable } from './missing-programs-variable.ts';
import { root } from './repository.ts';

/** One test, or one step of a lane that is a process of its own. */
export interface Proof {
  /** A project of vitest, or a part of the run that is a process of its own. */
  readonly lane: string;
  /** Relative to the root. */
  readonly file: string;
  readonly title: string;
}

export interface TestResult extends TestCount {
  /** Of every test, whether it passed or not. */
  readonly proofs: readonly Proof[];
  /** Paths of files that could not be loaded, relative to the root. */
  readonly broken: ReadonlySet<string>;
}

export interface TestChoice {
  /** Parts of paths; if empty, every test. */
  readonly filters?: readonly string[];
  /** Projects of vitest; if empty, all. */
  readonly lanes?: readonly string[];
  /** Globs of tests to exclude. */
  readonly exclude?: readonly string[];
  /** Only tests that uncommitted changes can affect. */
  readonly changed?: boolean;
  /** Why files fail that call a program which this computer lacks, by their paths. Default: it lacks none. */
  readonly unable?: ReadonlyMap<string, string>;
}

/** Runs tests in this process with vitest. A file that does not load, or an error outside any test, counts as one failure. */
export async function runTests(choice: TestChoice): Promise<TestResult> {
  const { filters = [], lanes = [], exclude = [], changed = false, unable = new Map() } = choice;
  if (unable.size > 0) process.env[missingProgramsVariable] = JSON.stringify(Object.fromEntries(unable));
  const vitest = await startVitest('test', [...filters], {
    root,
    run: true,
    watch: false,
    // The command line's name for it: `exclude` is not handed to projects.
    cliExclude: [...exclude],
    project: [...lanes],
    ...(changed ? { changed: true } : {}),
  });
  const count = { passed: 0, failed: vitest.state.getUnhandledErrors().length };
  const proofs: Proof[] = [];
  const brokenFiles = new Set<string>();
  for (const module of vitest.state.getTestModules()) {
    const tests = [...module.children.allTests()];
    const failedBefore = count.failed;
    const path = pathOf(module);
    for (const test of tests) {
      const { state } = test.result();
      if (state === 'passed') count.passed++;
      // A skipped, pending or unfocused test proves nothing: the house style allows none.
      else count.failed++;
      const sentence = unable.get(path);
      if (state !== 'passed' && sentence !== undefined) console.log(`FAILED ${path} > ${test.fullName}: ${sentence}`);
    }
    proofs.push(...proofsOf(module));
    const broken = module.state() === 'failed' && count.failed === failedBefore;
    if (broken || module.errors().length > 0) count.failed++;
    if (tests.length === 0) brokenFiles.add(path);
  }
  await vitest.close();
  return { ...count, proofs, broken: brokenFiles };
}

/** The titles of all tests, without running them: each file is loaded. */
export async function collectTitles(): Promise<{ readonly proofs: Proof[]; readonly problems: string[] }> {
  const vitest = await createVitest('test', { root, run: true, watch: false });
  const { testModules, unhandledErrors } = await vitest.collect([], { staticParse: false });
  const proofs = testModules.flatMap(proofsOf);
  const problems = [
    ...unhandledErrors.map(String),
    ...testModules.flatMap((module) => module.errors().map(({ message }) => `${pathOf(module)}: ${message}`)),
  ];
  await vitest.close();
  return { proofs, problems };
}

const pathOf = (module: TestModule): string => relative(root, module.moduleId);

function proofsOf(module: TestModule): Proof[] {
  const tests = [...module.children.allTests()];
  return tests.map(({ fullName }) => ({ lane: module.project.name, file: pathOf(module), title: fullName }));
}
