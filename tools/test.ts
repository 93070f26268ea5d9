/** `npm test`: the gate's steps, then every test; with parts of paths as arguments, only those tests. */
import { runSteps, stepsOf } from './gate.ts';
import { closingLine, runTests } from './run-tests.ts';

const filters = process.argv.slice(2);
const steps = await runSteps(filters.length > 0 ? [] : stepsOf());
const tests = await runTests({ filters });
const passed = tests.passed + steps.passed;
const failed = tests.failed + steps.failed;
console.log(closingLine({ passed, failed }));
process.exit(failed === 0 && tests.passed > 0 ? 0 : 1);
