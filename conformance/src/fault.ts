/**
 * The long fault runs: the crash tests with more strikes and a seed of your choice.
 *
 *   npm run fault -- cloud --kills 200 --seed 7
 *   npm run fault -- damage --damages 2000 --seed 7
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const faults: Readonly<Record<string, string>> = {
  cloud: 'conformance/src/crash/cloud-crash.test.ts',
  damage: 'conformance/src/damage/',
  machine: 'conformance/src/crash/machine-crash.test.ts',
  'power-cut': 'apps/cloud/src/ingest/power-cut.slow.test.ts',
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '200' },
    damages: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const unknown = positionals.filter((name) => !(name in faults));
if (positionals.length === 0 || unknown.length > 0) {
  console.error(`fault: expected some of ${Object.keys(faults).join(', ')}, found ${unknown.join(', ') || 'none'}`);
  process.exit(2);
}
console.log(
  `seed ${values.seed}, ${values.kills} kills (power-cut: instants besides every sync boundary), ${values.damages} damages`,
);
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', ...positionals.map((name) => faults[name] ?? '')], {
  stdio: 'inherit',
  env: { ...process.env, FAULT_KILLS: values.kills, FAULT_DAMAGES: values.damages, FAULT_SEED: values.seed },
});
process.exit(status ?? 1);
