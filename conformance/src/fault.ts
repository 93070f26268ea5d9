/**
 * The long fault runs: the crash tests with more kills, and the memory test of a small machine for longer, with a given seed.
 * `sync` is the ledger test of capture and sync; its last line is JSON with what was produced, stored, and reported as missing.
 *
 * npm run fault -- sync --kills 200 --cuts 2000 --acks 1000 --mutations 10000 --seed 7
 * npm run fault -- cloud --kills 200 --seed 7
 * npm run fault -- damage --damages 2000 --seed 7
 * npm run fault -- memory --seconds 300 --large 1,120,300,2000
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const faults: Readonly<Record<string, readonly string[]>> = {
  cloud: ['conformance/src/crash/cloud-crash.test.ts'],
  damage: ['conformance/src/damage/'],
  'power-cut': ['apps/cloud/src/ingest/log/power-cut.slow.test.ts'],
  memory: ['conformance/src/memory/memory.slow.test.ts'],
  sync: ['conformance/src/ledger/', 'apps/machine-server/src/testing/ledger/'],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '200' },
    cuts: { type: 'string', default: '2000' },
    acks: { type: 'string', default: '1000' },
    mutations: { type: 'string', default: '10000' },
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
const folder = mkdtempSync(join(tmpdir(), 'fault-'));
const report = join(folder, 'report');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...positionals.flatMap((name) => faults[name] ?? [])], {
  stdio: 'inherit',
  env: {
    ...process.env,
    FAULT_KILLS: values.kills,
    FAULT_LEDGER_KILLS: values.kills,
    FAULT_CUTS: values.cuts,
    FAULT_ACKS: values.acks,
    FAULT_MUTATIONS: values.mutations,
    FAULT_REPORT: report,
    FAULT_DAMAGES: values.damages,
    FAULT_SEED: values.seed,
    FAULT_SECONDS: values.seconds,
    FAULT_LARGE: values.large,
  },
});
const lines = existsSync(report) ? readFileSync(report, 'utf8').trim().split('\n') : [];
if (lines.length > 0) {
  const parts: Record<string, unknown>[] = lines.map((line) => JSON.parse(line));
  console.log(
    JSON.stringify({
      fault: positionals.join(' '),
      ok: status === 0,
      seed: values.seed,
      ...Object.assign({}, ...parts),
    }),
  );
}
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
