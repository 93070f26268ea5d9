/**
 * Measures the running product and the raw limits of this computer. Most benches print JSON lines: one for each figure, with the median and
 * the single runs. Those that compare with a requirement print a table, and JSON lines with `--json`.
 *
 *   npm run bench -- --help            each bench with its options
 *   npm run bench -- all               every bench
 *   npm run bench -- ingest --runs 5   some benches
 */
import { commandLineOf } from '@platform/testkit';
import { median } from './figures/statistics.ts';
import type { Load } from './fleet/fleet.ts';
import { remoteParts } from './remote/remote-parts.ts';
import { type Figure, isMet, printFigureTable } from './store/figure.ts';
import { storeSections } from './store/sections.ts';
import { measureSync, syncPieces } from './sync.ts';

/** One run of a bench: figures by name; the name ends in the unit. */
type Measure = (load: Load) => Promise<Readonly<Record<string, number>>>;

interface Bench {
  readonly help: string;
  /** Names of its options. */
  readonly options: readonly string[];
  readonly parts?: readonly string[];
  readonly run: (name: string) => Promise<void>;
}

/** A bench that is repeated. */
const single = (help: string, measure: Measure, ...options: string[]): Bench => ({
  ...{ help, options: ['runs', ...options] },
  run: async (name) => {
    const results: Readonly<Record<string, number>>[] = [];
    for (let run = 0; run < runs; run++) results.push(await measure(load));
    printFigures(name, results);
  },
});

/** A bench that compares with its requirements. */
const table = (help: string, options: readonly string[], measure: () => Promise<Figure[]>): Bench => ({
  ...{ help, options: [...options, 'json'] },
  run: async (name) => printFigureTable(await measure(), json, name),
});

/** … and that fails if one is missed. */
const strict = (help: string, options: readonly string[], measure: () => Promise<Figure[]>): Bench =>
  table(help, options, async () => {
    const figures = await measure();
    if (!figures.every(isMet)) process.exitCode = 1;
    return figures;
  });

/** Loaded on demand, so that a bench spends no CPU time on code that it does not use. */
const benches: Readonly<Record<string, Bench>> = {
  limits: single('the raw limits of this computer: disk, loopback, processor', async () =>
    (await import('../limits/measure-limits.ts')).measureLimits(),
  ),
  ingest: single('uploads a second to a cloud', async () => (await import('./ingest.ts')).measureIngest()),
  ack: single('time until an upload is acknowledged', async () => (await import('./ingest.ts')).measureAck()),
  webhook: single('time from the upload to the webhook', async () => (await import('./webhook.ts')).measureWebhook()),
  conditions: single('evaluations of a condition a second on one core', async () =>
    (await import('./conditions.ts')).measureConditions(),
  ),
  'many-triggers': single('ingest with 10,000 triggers that refer to other components', async () =>
    (await import('./many-triggers.ts')).measureManyTriggers(),
  ),
  deliveries: single(
    '1,000 webhooks a second to 100 targets, also with a fifth of them hanging; as root',
    async ({ seconds }) => (await import('./deliveries.ts')).measureDeliveries(seconds),
    'seconds',
  ),
  capture: single('capture on a machine', async () => (await import('./sync/capturing.ts')).measureCapture()),
  idle: single('memory and CPU time of idle programs', async () => (await import('./demo.ts')).measureIdle()),
  start: single('startup time', async () => (await import('./demo.ts')).measureStart()),
  fleet: single(
    'many parts that upload and query',
    async (load) => (await import('./fleet/fleet.ts')).measureFleet(load),
    ...['parts', 'seconds'],
  ),
  presence: single(
    'many parts that only stay online',
    async (load) => (await import('./fleet/presence.ts')).measurePresence(load),
    'parts',
  ),
  machine: single('a machine-server with 1,000 resources', async () => (await import('./machine.ts')).measureMachine()),
  queries: {
    help: 'queries compared with DuckDB, a hand-written loop, and mingo; a table',
    options: ['readings', 'files', 'repetitions', 'seed', 'json'],
    run: async () => {
      const sizes = { readings: number('readings', 5_000_000), files: number('files', 1_000) };
      const { measureQueries, printLines } = await import('./queries.ts');
      printLines(await measureQueries({ ...sizes, repetitions: number('repetitions'), seed: number('seed') }), json);
    },
  },
  store: {
    ...table(
      'the store compared with DuckDB and the requirements; a table',
      ['readings', 'runs', 'seconds', 'only', 'before'],
      async () => {
        const load = { readings: number('readings', 5_000_000), runs, seconds: number('seconds'), only };
        return (await import('./store.ts')).measureStore({ ...load, before: values['before'] });
      },
    ),
    parts: storeSections,
  },
  'slow-disk': table(
    'what is captured while each sync takes 50 ms to 10 s, and for how long a disk may hang; a table; needs a C compiler',
    ['seconds', 'only'],
    async () => (await import('./slow-disk.ts')).measureSlowDisk({ seconds: number('seconds'), only }),
  ),
  'dry-run': {
    help: 'dry runs of triggers over stored readings of one part (default 10,000,000)',
    options: ['readings', 'runs'],
    run: async (name) => {
      const { measureDryRun } = await import('./dry-run.ts');
      printFigures(name, await measureDryRun(number('readings', 10_000_000), runs));
    },
  },
  series: table(
    'the list of what an organization has stored, with newest values: 2,000 machines with 20,000 series; a table',
    ['readings', 'runs'],
    async () => (await import('./series.ts')).measureSeries({ readings: number('readings', 1_000_000), runs }),
  ),
  mails: {
    help: 'notifications of a fleet by e-mail through Exim, a real mail server: at once, while the server is away and the cloud is killed, and after a day without it; a table; exits with 1 if one is lost, doubled or late',
    options: ['machines', 'json'],
    run: async (name) => {
      const { measureMails } = await import('./mails/measure-mails.ts');
      const figures = await measureMails(number('machines', 2_000));
      printFigureTable(figures, json, name);
      if (!figures.every(isMet)) process.exitCode = 1;
    },
  },
  remote: {
    ...strict(
      'remote control over WebRTC, beside a bare data channel, and through the relay: dials, calls, a stream, 200 connections, machines that wait for calls (default 1,000), and a machine-server that nobody calls; a table; exits 1 if a requirement is missed',
      ['only', 'machines', 'seconds', 'before'],
      async () => {
        const load = { only, machines: number('machines', 1_000), seconds: number('seconds') };
        return (await import('./remote/measure-remote.ts')).measureRemote({ ...load, before: values['before'] });
      },
    ),
    parts: remoteParts,
  },
  billing: table(
    'closing a month of many organizations, and metering; a table',
    ['organizations', 'records', 'readings', 'runs'],
    async () => {
      const sizes = { organizations: number('organizations'), records: number('records') };
      const { measureBilling } = await import('./billing.ts');
      return measureBilling({ ...sizes, readings: number('readings', 1_000_000), runs });
    },
  ),
  web: table(
    'the web UI in a real browser (Chromium) compared with its requirements; a table',
    ['parts', 'runs'],
    async () => (await import('./web.ts')).measureWeb({ machines: number('parts'), runs }),
  ),
  pages: strict(
    'the main pages of the web UI over 2,000 machines with 20,000 series, at the widths of a desktop and of a phone; a table; exits 1 if a requirement is missed',
    ['readings', 'runs'],
    async () => (await import('./pages.ts')).measurePages({ readings: number('readings', 1_000_000), runs }),
  ),
  sync: {
    ...table(
      'capture and sync compared with their requirements; a table',
      ['files', 'readings', 'megabytes', 'seconds', 'only'],
      () => {
        const load = { files: number('files', 100_000), readings: number('readings', 10_000_000), only };
        return measureSync({ ...load, megabytes: number('megabytes'), seconds: number('seconds') });
      },
    ),
    parts: syncPieces,
  },
};

const { kinds, values } = commandLineOf({
  program: 'npm run bench --',
  kinds: benches,
  options: {
    runs: { value: 'number', default: '3', help: 'how often each is measured' },
    parts: { value: 'number', default: '10000', help: 'parts of the fleet' },
    seconds: { value: 'number', default: '60', help: 'duration of each load' },
    readings: {
      value: 'number',
      help: 'readings; by default 5,000,000, of sync and dry-run 10,000,000, of billing, series and pages 1,000,000',
    },
    machines: {
      value: 'number',
      help: 'machines that notify at once, by default 2,000; that wait for calls, by default 1,000',
    },
    organizations: { value: 'number', default: '1000', help: 'organizations that are billed' },
    records: { value: 'number', default: '10000000', help: 'rows of the meter in the month' },
    files: { value: 'number', help: 'files; by default 1,000, of sync 100,000' },
    megabytes: { value: 'number', default: '5000', help: 'size of the large file' },
    repetitions: { value: 'number', default: '5', help: 'how often each query runs' },
    seed: { value: 'number', default: '1', help: 'of the random readings' },
    only: { value: 'text', default: '', help: 'some of its parts, separated by commas' },
    before: {
      value: 'text',
      help: 'folder of another checkout, whose ingest (store) or idle machine-server (remote) is measured alternately with this one',
    },
    json: { value: 'switch', help: 'JSON lines too' },
  },
});
const number = (name: string, otherwise = 0): number => Number(values[name] ?? otherwise);
const [runs, only, json] = [number('runs'), values['only'] ?? '', values['json'] === 'true'];
const load: Load = { parts: number('parts'), seconds: number('seconds') };
for (const name of kinds) await benches[name]?.run(name);
process.exit();

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
