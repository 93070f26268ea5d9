/**
 * The one gate: format, types, lint, layers, side effects, invariants, generated files, unused code, fast tests; no network.
 *
 *   npm run check                all of it
 *   npm run check -- --changed   only what uncommitted changes can affect
 *   npm run check -- --no-tests  only the steps
 */
import { runStep, stepsOf } from './gate.ts';
import { closingLine, runTests } from './run-tests.ts';
import { printSizes } from './sizes.ts';

/** Tests that start apps, kill them or take long; `npm test` runs them. */
const slowTests = ['conformance/**', '**/*.slow.test.ts'];

const changed = process.argv.includes('--changed');
const results = stepsOf(changed).map(runStep);
if (!changed) printSizes();
let [passed, failed] = [results.filter(Boolean).length, results.filter((ok) => !ok).length];
if (!process.argv.includes('--no-tests')) {
  const tests = await runTests({ exclude: slowTests, changed });
  passed += tests.passed;
  failed += tests.failed;
}
console.log(closingLine({ passed, failed }));
process.exit(failed === 0 ? 0 : 1);
