/** The one gate: format, types, lint, our own rules, generated files, unused code, fast tests; no network. */
import { parseArgs } from 'node:util';
import { closingLine } from './closing-line.ts';
import { changedFiles, runSteps, stepsOf } from './gate.ts';
import { longTests } from './long-tests.ts';
import { runTests } from './run-tests.ts';
import { printSizes } from './sizes.ts';

const usage = `The gate before a commit: format, types, lint, our own rules, generated files, unused code, fast tests.

  npm run check                all of it
  npm run check -- --changed   only what uncommitted changes can affect
  npm run check -- --no-tests  only the steps
  npm run check -- --help      this text

Steps run at the same time, as many as there are processors. Tests in conformance/ and *.slow.test.ts run with npm test.
`;

/** Tests that start apps, kill them or take long; `npm test` runs them. */
const slowTests = ['conformance/**', '**/*.slow.test.ts', longTests];

function optionsOf(args: readonly string[]): { readonly changed: boolean; readonly noTests: boolean } {
  const boolean = { type: 'boolean', default: false } as const;
  try {
    const options = { changed: boolean, 'no-tests': boolean, help: { ...boolean, short: 'h' } };
    const { values } = parseArgs({ args: [...args], options });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    return { changed: values.changed, noTests: values['no-tests'] };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}

const { changed, noTests } = optionsOf(process.argv.slice(2));
const steps = await runSteps(stepsOf(changed ? changedFiles() : undefined));
if (!changed) printSizes();
const tests = noTests ? { passed: 0, failed: 0 } : await runTests({ exclude: slowTests, changed });
const [passed, failed] = [steps.passed + tests.passed, steps.failed + tests.failed];
console.log(closingLine({ passed, failed }));
process.exit(failed === 0 ? 0 : 1);
