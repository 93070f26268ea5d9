/**
 * Random queries over random readings, each run with push-down, without it, and by the executor alone.
 *
 *   npm run fuzz:queries -- --cases 100000 --seed 1     default: 2,000 cases with a seed from the clock
 *   npm run fuzz:queries -- --seed 1 --round 3 --case 41   one again
 *
 * Exit code 1: an answer differs, holds hidden rows, or fewer than 80 % of the pushable queries were pushed.
 */
import { commandLineOf } from '@platform/testkit';
import { leastPushedShare, runRounds } from './run-rounds.ts';

const { values } = commandLineOf({
  program: 'npm run fuzz:queries --',
  kinds: {},
  options: {
    cases: { value: 'number', default: '2000', help: 'queries' },
    seed: {
      value: 'number',
      default: String(Date.now() % 1_000_000),
      help: 'repeats a run; by default from the clock',
    },
    round: { value: 'number', help: 'only this round' },
    case: { value: 'number', help: 'only this case' },
    unpushed: { value: 'switch', help: 'prints queries that were not pushed' },
  },
});
const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
const started = performance.now();
const result = await runRounds({
  seed: Number(values['seed']),
  cases: Number(values['cases']),
  round: numberOf(values['round']),
  only: numberOf(values['case']),
  onProblem: (problem) => console.log(`\n${problem}`),
  onRound: ({ asked, problems }) => {
    if (asked % 10_000 < 500) console.log(`${asked} cases, ${problems.length} problems`);
  },
});
if (values['unpushed'] === 'true') for (const each of result.unpushed.slice(0, 50)) console.log(`not pushed: ${each}`);
const { asked, refused, pushable, pushed, problems } = result;
const share = pushable === 0 ? 1 : pushed / pushable;
const seconds = (performance.now() - started) / 1_000;
console.log(
  `seed ${values['seed']}: ${asked} cases (${refused} more were refused by the parser) in ${seconds.toFixed(1)} s, ${problems.length} problems; ` +
    `of ${pushable} in pushable forms, ${pushed} (${(100 * share).toFixed(1)} %) had a stage pushed beyond scope and time`,
);
process.exit(problems.length > 0 || share < leastPushedShare ? 1 : 0);
