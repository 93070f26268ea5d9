/**
 * The long fault runs: the crash tests with more kills, and the memory test of a small machine for longer, with a given seed. `sync` is the
 * ledger test of capture and sync, by default with the number of faults in its requirements. Progress goes to standard error; standard
 * output is one line of JSON with the numbers of readings produced, stored, and reported as missing. `npm run fault -- --help` lists the
 * runs with their options; for example npm run fault -- sync --kills 200 --seed 7
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLineOf } from '@platform/testkit';

const faults: Readonly<Record<string, { help: string; options: string[]; tests: readonly string[] }>> = {
  cloud: {
    help: 'kills the cloud while readings arrive',
    options: ['kills', 'seed'],
    tests: ['conformance/src/crash/cloud-crash.test.ts'],
  },
  triggers: {
    help: 'kills the cloud while triggers fire, and compares the messages with what an oracle expects',
    options: ['kills', 'seed'],
    tests: ['conformance/src/crash/trigger-crash.test.ts'],
  },
  mails: {
    help: 'kills the cloud while notifications by e-mail are gathered and sent; takes seven minutes',
    options: ['kills', 'seed'],
    tests: ['conformance/src/crash/mail-crash.fault.ts'],
  },
  billing: {
    help: 'charges under crashes, kills, lost answers, and confirmations that are repeated, late and reordered, and waits for the limit of two minutes',
    options: ['interleavings', 'kills', 'seed'],
    tests: [
      'apps/cloud/src/billing/payments/interleavings.test.ts',
      'conformance/src/crash/billing-crash.long.test.ts',
      'conformance/src/crash/two-minutes.fault.ts',
    ],
  },
  damage: {
    help: 'damages files, catalog and rows of a running cloud while it is asked',
    options: ['damages', 'seed'],
    tests: ['conformance/src/damage/'],
  },
  disk: {
    help: 'fails, shortens, delays and forgets file calls of a cloud, and of a machine-server, then cuts the power; needs a C compiler',
    options: ['faults', 'seed'],
    tests: ['conformance/src/disk/'],
  },
  hostile: {
    help: 'sends requests that are cheap to send and expensive to decode, four at once, and then garbage to ports, links, tunnels and module sockets, also as a cloud, and measures how long others wait',
    options: ['requests', 'garbage', 'from', 'wait', 'seed'],
    tests: [
      'conformance/src/hostile/',
      'packages/rpc/src/link/hostile-servers.test.ts',
      'packages/rpc/src/listener/hostile-clients.test.ts',
    ],
  },
  stops: {
    help: 'the part of hostile about stops, heartbeats and capture ticks of a machine-server, beside hostile callers, a module with long answers, and a cloud with large configurations and answers',
    options: ['requests', 'wait'],
    tests: ['conformance/src/hostile/stops-on-time.fault.ts', 'conformance/src/hostile/large-cloud.fault.ts'],
  },
  'power-cut': {
    help: 'simulates power cuts under the ingest log: at every sync, and at --kills random moments',
    options: ['kills', 'seed'],
    tests: ['apps/cloud/src/ingest/log/power-cut.slow.test.ts'],
  },
  memory: {
    help: 'sends readings of every size to a cloud on a machine with 2 GB',
    options: ['seconds', 'large', 'seed'],
    tests: ['conformance/src/memory/memory.long.test.ts'],
  },
  link: {
    help: 'a network between machine-server and cloud that freezes, drops, delays, cuts, repeats and reorders, and how long they take to recover',
    options: ['seconds', 'seed'],
    tests: ['conformance/src/link/'],
  },
  remote: {
    help: 'connections over WebRTC to one machine, while browser, engines, machine-server and cloud are killed: no motor turns on, no captured reading and no audit record is lost or doubled, nothing grows',
    options: ['connections', 'seed'],
    tests: ['conformance/src/remote/fault/remote.fault.ts'],
  },
  sync: {
    help: 'capture and sync under kills, power cuts, lost acknowledgements, full disks and damaged files',
    options: ['kills', 'cuts', 'acks', 'mutations', 'disks', 'seed'],
    tests: ['conformance/src/ledger/', 'apps/machine-server/src/testing/ledger/'],
  },
};

const { kinds, values } = commandLineOf({
  program: 'npm run fault --',
  kinds: faults,
  options: {
    kills: { value: 'number', default: '200', help: 'processes that are killed' },
    interleavings: { value: 'number', default: '10000', help: 'random orders of calls and faults, in process' },
    cuts: { value: 'number', default: '2000', help: 'power cuts of a recorded run' },
    acks: { value: 'number', default: '1000', help: 'acknowledgements that are lost' },
    mutations: { value: 'number', default: '10000', help: 'damaged capture files' },
    disks: { value: 'number', default: '10', help: 'disks that run full and are freed, of machine-servers and clouds' },
    damages: { value: 'number', default: '2000', help: 'damages' },
    faults: {
      value: 'number',
      default: '60',
      help: 'faults of the disk: of 384 below a cloud, and as many below a machine-server; kinds that hit nothing are tried once more',
    },
    connections: { value: 'number', default: '1000', help: 'connections; a kill for each 20 of them' },
    requests: { value: 'number', default: '2000', help: 'hostile requests' },
    garbage: { value: 'number', default: '10000', help: 'kinds of garbage for each port, link and module socket' },
    from: { value: 'number', default: '0', help: 'the first kind of garbage' },
    wait: { value: 'number', default: '250', help: 'longest wait of others that passes, ms; 1000 beside a busy core' },
    seconds: { value: 'number', help: 'duration of the load; by default 600 of link, 300 of memory' },
    large: { value: 'numbers', default: '1,120,300,2000', help: 'how many of the largest readings are sent at once' },
    seed: {
      value: 'number',
      default: String(Date.now() % 1_000_000),
      help: 'repeats a run; by default from the clock',
    },
  },
});
console.error(
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', '),
);
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fault-'));
const report = join(folder, 'report');
// The tests mostly wait for processes; those that measure waits run alone.
const workers = kinds.includes('sync')
  ? ['--maxWorkers=3']
  : kinds.some((kind) => ['hostile', 'stops', 'disk'].includes(kind))
    ? ['--maxWorkers=1']
    : [];
const files = kinds.flatMap((name) => faults[name]?.tests ?? []);
const startedMs = performance.now();
// The runs take as long as they are asked to.
const { status } = spawnSync(process.execPath, [vitest, 'run', '--testTimeout=0', ...workers, ...files], {
  stdio: ['ignore', 2, 2],
  env: {
    ...process.env,
    FAULT_KILLS: values['kills'],
    FAULT_LEDGER_KILLS: values['kills'],
    FAULT_TRIGGER_KILLS: values['kills'],
    FAULT_BILLING_KILLS: values['kills'],
    FAULT_INTERLEAVINGS: values['interleavings'],
    FAULT_CUTS: values['cuts'],
    FAULT_ACKS: values['acks'],
    FAULT_MUTATIONS: values['mutations'],
    FAULT_DISKS: values['disks'],
    FAULT_REPORT: report,
    FAULT_DISK_FAULTS: values['faults'],
    FAULT_DAMAGES: values['damages'],
    FAULT_SEED: values['seed'],
    FAULT_REQUESTS: values['requests'],
    FAULT_CONNECTIONS: values['connections'],
    FAULT_GARBAGE: values['garbage'],
    FAULT_GARBAGE_FROM: values['from'],
    FAULT_WAIT_MS: values['wait'],
    FAULT_SECONDS: values['seconds'] ?? '300',
    FAULT_LINK_SECONDS: values['seconds'] ?? '600',
    FAULT_LARGE: values['large'],
  },
});
const lines = existsSync(report) ? readFileSync(report, 'utf8').trim().split('\n') : [];
if (lines.length > 0) {
  const parts: Record<string, unknown>[] = lines.map((line) => JSON.parse(line));
  console.log(
    JSON.stringify({
      fault: kinds.join(' '),
      ok: status === 0,
      seed: values['seed'],
      seconds: Math.round((performance.now() - startedMs) / 1_000),
      ...Object.assign({}, ...parts),
    }),
  );
}
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
