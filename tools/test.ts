/** `npm test`: the gate's steps, then every test; with parts of paths as arguments, only those tests. */
import { runStep, stepsOf } from './gate.ts';
import { closingLine, runTests } from './run-tests.ts';

const filters = process.argv.slice(2);
const results = filters.length > 0 ? [] : stepsOf(false).map(runStep);
const tests = await runTests({ filters });
const passed = tests.passed + results.filter(Boolean).length;
const failed = tests.failed + results.filter((ok) => !ok).length;
console.log(closingLine({ passed, failed }));
process.exit(failed === 0 && tests.passed > 0 ? 0 : 1);
