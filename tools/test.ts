/** `npm test`: everything that it needs, the gate's steps, then every test; with parts of paths as arguments, only those tests. */
import { parseArgs } from 'node:util';
import { closingLine } from './closing-line.ts';
import { runSteps, stepsOf } from './gate.ts';
import { type LaneResult, runLane } from './lane.ts';
import { prepareComputer } from './needed-programs.ts';
import { checkProofs, gateProofs, processLanes } from './proofs.ts';
import { type Proof, runTests } from './run-tests.ts';

const usage = `Runs the gate's steps, then every test. Ends with "N passed, N failed".

  npm test                 all of it; says before the first test which programs are missing, such as a browser
  npm test -- --install    installs these programs first, with apt-get (asks sudo unless it runs as root)
  npm test -- PATH…        only the tests whose paths contain one of these, without the gate
  npm test -- --help       this text
  CI=true npm test         as --install, and checks the packages to publish and the container image, beside the tests

In a run of all tests, a test that tools/proofs.txt lists must be there: see npm run proofs in CONTRIBUTING.md.
`;

interface Options {
  readonly filters: readonly string[];
  readonly install: boolean;
  readonly isCi: boolean;
}

function optionsOf(args: readonly string[]): Options {
  const boolean = { type: 'boolean', default: false } as const;
  try {
    const options = { install: boolean, help: { ...boolean, short: 'h' } };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    const isCi = process.env['CI'] === 'true';
    return { filters: positionals, install: values.install || isCi, isCi };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}

const { filters, install, isCi } = optionsOf(process.argv.slice(2));
const isFull = filters.length === 0;
const unable = prepareComputer({ withInstall: install, withImage: isCi, filters });
const steps = await runSteps(isFull ? stepsOf() : []);
// They wait for the network and the disk for most of their time.
const lanes = isFull && isCi ? processLanes.map(({ lane, file }) => runLane(lane, file, ['--if-changed'])) : [];
const tests = await runTests({ filters, unable });
const beside = await Promise.all(lanes);
for (const { said } of beside) console.log(said);
const counts = [steps, tests, ...beside];
if (isFull) {
  const whole = beside.filter(({ failed }) => failed === 0);
  const names = new Set(whole.map(({ name }) => name));
  const notRun = new Set<string>(processLanes.map(({ lane }) => lane).filter((lane) => !names.has(lane)));
  const proofs = [...gateProofs(), ...tests.proofs, ...whole.flatMap(proofsOfLane)];
  const nothingLost = checkProofs({ proofs, broken: tests.broken, notRun });
  counts.push(nothingLost ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
}
const passed = counts.reduce((sum, count) => sum + count.passed, 0);
const failed = counts.reduce((sum, count) => sum + count.failed, 0);
console.log(closingLine({ passed, failed }));
process.exit(failed === 0 && tests.passed > 0 ? 0 : 1);

function proofsOfLane({ name, titles }: LaneResult): Proof[] {
  const file = processLanes.find(({ lane }) => lane === name)?.file ?? '';
  return titles.map((title) => ({ lane: name, file, title }));
}
