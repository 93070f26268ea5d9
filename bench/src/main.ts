/**
 * Measures the running product and the raw limits of this computer, and prints JSON lines: one for each figure, with the
 * median and the single runs.
 *
 *   npm run bench -- all               every bench
 *   npm run bench -- --help            each bench with its options
 *   npm run bench -- ingest ack        some benches
 *   npm run bench -- ingest --runs 5   more runs (default 3)
 *   npm run bench -- queries --readings 5000000 --files 1000 --seed 1   one run, a table (with --json lines); --repetitions 5
 *   npm run bench -- store --readings 5000000 --runs 5 --seconds 60   the store compared with DuckDB and the requirements,
 *     a table (with --json lines); --only a,b,c,restart,ingest,size,checksums,idle;
 *     --before DIR: the ingest of another checkout, alternately with this one
 *   npm run bench -- sync --files 100000 --readings 10000000 --megabytes 5000 --seconds 60   capture and sync compared with their
 *     requirements, a table (with --json lines); --only backlog,fast,many,thousand,camera,large,month
 *   npm run bench -- slow-disk --seconds 60 --only 2000,hang   what is captured while syncs take 50 ms to 10 s, a table (with --json lines); needs a C compiler
 *   npm run bench -- dry-run --readings 10000000   dry runs of triggers over stored readings
 *   npm run bench -- billing --organizations 1000 --records 10000000 --readings 1000000   closing a month, and metering, compared with
 *     their requirements, a table (with --json lines)
 *   npm run bench -- web --parts 10000   the web UI in a real browser compared with its requirements, with ten times as many log lines as
 *     machines; a table (with --json lines)
 *   npm run bench -- fleet --parts 500 --seconds 20   a smaller fleet, a shorter run (default 10,000 and 60)
 */
import { commandLineOf } from '@platform/testkit';
import { median } from './figures/statistics.ts';
import type { Load } from './fleet/load.ts';
import { printFigureTable } from './store/figure.ts';
import { storeSections } from './store/sections.ts';
import { measureSync, syncPieces } from './sync.ts';

/** One run of a bench: figures by name; the name ends in the unit. */
export type Measure = (load: Load) => Promise<Readonly<Record<string, number>>>;

/** Loaded on demand, so that a bench spends no CPU time on code that it does not use. */
const benches: Readonly<Record<string, Measure>> = {
  limits: async () => (await import('../limits/measure-limits.ts')).measureLimits(),
  ingest: async () => (await import('./ingest.ts')).measureIngest(),
  ack: async () => (await import('./ack.ts')).measureAck(),
  webhook: async () => (await import('./webhook.ts')).measureWebhook(),
  conditions: async () => (await import('./conditions.ts')).measureConditions(),
  'many-triggers': async () => (await import('./many-triggers.ts')).measureManyTriggers(),
  deliveries: async ({ seconds }) => (await import('./deliveries.ts')).measureDeliveries(seconds),
  capture: async () => (await import('./capture.ts')).measureCapture(),
  idle: async () => (await import('./idle.ts')).measureIdle(),
  start: async () => (await import('./start.ts')).measureStart(),
  fleet: async (load) => (await import('./fleet/fleet.ts')).measureFleet(load),
  presence: async (load) => (await import('./fleet/presence.ts')).measurePresence(load),
  machine: async () => (await import('./machine.ts')).measureMachine(),
};

const single = (help: string, ...options: string[]) => ({ help, options: ['runs', ...options] });
const { kinds, values } = commandLineOf({
  program: 'npm run bench --',
  kinds: {
    limits: single('the raw limits of this computer: disk, loopback, processor'),
    ingest: single('uploads a second to a cloud'),
    ack: single('time until an upload is acknowledged'),
    webhook: single('time from the upload to the webhook'),
    conditions: single('evaluations of a condition a second on one core'),
    'many-triggers': single('ingest with 10,000 triggers that refer to other components'),
    deliveries: single('1,000 webhooks a second to 100 targets, also with a fifth of them hanging; as root', 'seconds'),
    capture: single('capture on a machine'),
    idle: single('memory and CPU time of idle programs'),
    start: single('startup time'),
    fleet: single('many parts that upload and query', 'parts', 'seconds'),
    presence: single('many parts that only stay online', 'parts'),
    machine: single('a machine-server with 1,000 resources'),
    queries: {
      help: 'queries compared with DuckDB, a hand-written loop, and mingo; a table',
      options: ['readings', 'files', 'repetitions', 'seed', 'json'],
    },
    store: {
      help: 'the store compared with DuckDB and the requirements; a table',
      options: ['readings', 'runs', 'seconds', 'only', 'before', 'json'],
      parts: storeSections,
    },
    'slow-disk': {
      help: 'what is captured while each sync takes 50 ms to 10 s, and for how long a disk may hang; a table; needs a C compiler',
      options: ['seconds', 'only', 'json'],
    },
    'dry-run': {
      help: 'dry runs of triggers over stored readings of one part (default 10,000,000)',
      options: ['readings', 'runs'],
    },
    billing: {
      help: 'closing a month of many organizations, and metering; a table',
      options: ['organizations', 'records', 'readings', 'runs', 'json'],
    },
    web: {
      help: 'the web UI in a real browser (Chromium) compared with its requirements; a table',
      options: ['parts', 'runs', 'json'],
    },
    sync: {
      help: 'capture and sync compared with their requirements; a table',
      options: ['files', 'readings', 'megabytes', 'seconds', 'only', 'json'],
      parts: syncPieces,
    },
  },
  options: {
    runs: { value: 'number', default: '3', help: 'how often each is measured' },
    parts: { value: 'number', default: '10000', help: 'parts of the fleet' },
    seconds: { value: 'number', default: '60', help: 'duration of each load' },
    readings: {
      value: 'number',
      help: 'readings; by default 5,000,000, of sync and dry-run 10,000,000, of billing 1,000,000',
    },
    organizations: { value: 'number', default: '1000', help: 'organizations that are billed' },
    records: { value: 'number', default: '10000000', help: 'rows of the meter in the month' },
    files: { value: 'number', help: 'files; by default 1,000, of sync 100,000' },
    megabytes: { value: 'number', default: '5000', help: 'size of the large file' },
    repetitions: { value: 'number', default: '5', help: 'how often each query runs' },
    seed: { value: 'number', default: '1', help: 'of the random readings' },
    only: { value: 'text', default: '', help: 'some of its parts, separated by commas' },
    before: { value: 'text', help: 'folder of another checkout, whose ingest is measured alternately with this one' },
    json: { value: 'switch', help: 'JSON lines too' },
  },
});
const number = (name: string, otherwise = 0): number => Number(values[name] ?? otherwise);
const [runs, only, json] = [number('runs'), values['only'] ?? '', values['json'] === 'true'];
const load: Load = { parts: number('parts'), seconds: number('seconds') };
for (const name of kinds) {
  if (name === 'queries') {
    const sizes = { readings: number('readings', 5_000_000), files: number('files', 1_000) };
    const { measureQueries, printLines } = await import('./queries.ts');
    printLines(await measureQueries({ ...sizes, repetitions: number('repetitions'), seed: number('seed') }), json);
    continue;
  }
  if (name === 'store') {
    const readings = number('readings', 5_000_000);
    const { before } = values;
    const { measureStore } = await import('./store.ts');
    printFigureTable(await measureStore({ readings, runs, seconds: load.seconds, only, before }), json);
    continue;
  }
  if (name === 'slow-disk') {
    const { measureSlowDisk } = await import('./slow-disk.ts');
    printFigureTable(await measureSlowDisk({ seconds: load.seconds, only }), json, name);
    continue;
  }
  if (name === 'dry-run') {
    const { measureDryRun } = await import('./dry-run.ts');
    printFigures(name, await measureDryRun(number('readings', 10_000_000), runs));
    continue;
  }
  if (name === 'billing') {
    const sizes = { organizations: number('organizations'), records: number('records') };
    const { measureBilling } = await import('./billing.ts');
    const figures = await measureBilling({ ...sizes, readings: number('readings', 1_000_000), runs });
    printFigureTable(figures, json, name);
    continue;
  }
  if (name === 'web') {
    const { measureWeb } = await import('./web.ts');
    printFigureTable(await measureWeb({ machines: load.parts, runs }), json, name);
    continue;
  }
  if (name === 'sync') {
    const [files, readings] = [number('files', 100_000), number('readings', 10_000_000)];
    const figures = await measureSync({ files, readings, megabytes: number('megabytes'), seconds: load.seconds, only });
    printFigureTable(figures, json, name);
    continue;
  }
  const results: Readonly<Record<string, number>>[] = [];
  for (let run = 0; run < runs; run++) results.push(await (benches[name] as Measure)(load));
  printFigures(name, results);
}
process.exit(0);

/** Prints `{"bench","figure","median","runs"}` for each figure that the runs measured. */
function printFigures(bench: string, runs: readonly Readonly<Record<string, number>>[]): void {
  for (const figure of Object.keys(runs[0] ?? {})) {
    const values = runs.map((run) => round(run[figure] ?? Number.NaN));
    console.log(JSON.stringify({ bench, figure, median: median(values), runs: values }));
  }
}

function round(value: number): number {
  return Number(value.toPrecision(5));
}
