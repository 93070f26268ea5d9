/**
 * The long fault runs: the crash tests with more kills, and the memory test of a small machine for longer, with a given seed.
 *
 * npm run fault -- cloud --kills 200 --seed 7
 * npm run fault -- damage --damages 2000 --seed 7
 * npm run fault -- memory --seconds 300 --large 1,120,300,2000
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const faults: Readonly<Record<string, string>> = {
  cloud: 'conformance/src/crash/cloud-crash.test.ts',
  damage: 'conformance/src/damage/',
  machine: 'conformance/src/crash/machine-crash.test.ts',
  'power-cut': 'apps/cloud/src/ingest/log/power-cut.slow.test.ts',
  memory: 'conformance/src/memory/memory.slow.test.ts',
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '200' },
    damages: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '300' },
    large: { type: 'string', default: '1,120,300,2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const unknown = positionals.filter((name) => !(name in faults));
if (positionals.length === 0 || unknown.length > 0) {
  console.error(`fault: expected some of ${Object.keys(faults).join(', ')}, found ${unknown.join(', ') || 'none'}`);
  process.exit(2);
}
console.log(
  `seed ${values.seed}, ${values.kills} kills (power-cut: instants besides every sync boundary), ${values.damages} damages, ${values.seconds} s (memory)`,
);
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', ...positionals.map((name) => faults[name] ?? '')], {
  stdio: 'inherit',
  env: {
    ...process.env,
    FAULT_KILLS: values.kills,
    FAULT_DAMAGES: values.damages,
    FAULT_SEED: values.seed,
    FAULT_SECONDS: values.seconds,
    FAULT_LARGE: values.large,
  },
});
process.exit(status ?? 1);
