/** `npm test`: everything that it needs, the gate's steps, then every test; with parts of paths as arguments, only those tests. */
import { parseArgs } from 'node:util';
import { closingLine } from './closing-line.ts';
import { runSteps, stepsOf } from './gate.ts';
import { type LaneResult, runLane } from './lane.ts';
import { longLane, shortLanes } from './long-tests.ts';
import { prepareComputer } from './needed-programs.ts';
import { checkProofs, gateLane, gateProofs, processLanes } from './proofs.ts';
import { type Proof, runTests } from './run-tests.ts';

const usage = `Runs the gate's steps, then every test. Ends with "N passed, N failed".

  npm test                 all of it; says before the first test which programs are missing, such as a browser
  npm test -- --install    installs these programs first, with apt-get (asks sudo unless it runs as root)
  npm test -- --long       the tests that this leaves out: long ones under load, faults and little memory; also run by npm run fault
  npm test -- PATH…        only the tests whose paths contain one of these, without the gate
  npm test -- --help       this text
  CI=true npm test         as --install, and checks the packages to publish and the container image, beside the tests

In a run of all tests, a test that tools/proofs.txt lists must be there: see npm run proofs in CONTRIBUTING.md.
`;

interface Options {
  readonly filters: readonly string[];
  readonly long: boolean;
  readonly install: boolean;
  readonly isCi: boolean;
}

function optionsOf(args: readonly string[]): Options {
  const boolean = { type: 'boolean', default: false } as const;
  try {
    const options = { long: boolean, install: boolean, help: { ...boolean, short: 'h' } };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    const isCi = process.env['CI'] === 'true';
    return { filters: positionals, long: values.long, install: values.install || isCi, isCi };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}

const { filters, long, install, isCi } = optionsOf(process.argv.slice(2));
const isFull = filters.length === 0;
const unable = prepareComputer({ withInstall: install, withImage: isCi, filters });
const isWhole = isFull && !long;
const steps = await runSteps(isWhole ? stepsOf() : []);
// They wait for the network and the disk for most of their time.
const lanes = isWhole && isCi ? processLanes.map(({ lane, file }) => runLane(lane, file, ['--if-changed'])) : [];
const tests = await runTests({ filters, unable, lanes: lanesOfTests() });
const beside = await Promise.all(lanes);
for (const { said } of beside) console.log(said);
const counts = [steps, tests, ...beside];
if (isFull) {
  const whole = beside.filter(({ failed }) => failed === 0);
  const ran = new Set([...(isWhole ? [gateLane] : []), ...lanesOfTests(), ...whole.map(({ name }) => name)]);
  const proofs = [...gateProofs(), ...tests.proofs, ...whole.flatMap(proofsOfLane)];
  const nothingLost = checkProofs({ proofs, broken: tests.broken, ran });
  counts.push(nothingLost ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
}
const passed = counts.reduce((sum, count) => sum + count.passed, 0);
const failed = counts.reduce((sum, count) => sum + count.failed, 0);
console.log(closingLine({ passed, failed }));
process.exit(failed === 0 && tests.passed > 0 ? 0 : 1);

/** With parts of paths, those of any lane. */
function lanesOfTests(): readonly string[] {
  if (!isFull) return [];
  return long ? [longLane] : shortLanes;
}

function proofsOfLane({ name, titles }: LaneResult): Proof[] {
  const file = processLanes.find(({ lane }) => lane === name)?.file ?? '';
  return titles.map((title) => ({ lane: name, file, title }));
}
