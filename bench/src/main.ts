/**
 * Measures the running product and the raw limits of this computer, and prints JSON lines: one for each figure, with the
 * median and the single runs.
 *
 *   npm run bench -- all               every bench
 *   npm run bench -- ingest ack        some
 *   npm run bench -- ingest --runs 5   more runs (default 3)
 *   npm run bench -- queries --readings 5000000 --files 1000 --seed 1   one run, a table (with --json lines); --repetitions 5
 *   npm run bench -- store --readings 5000000 --runs 5 --seconds 60   the store compared with DuckDB and the requirements,
 *     a table (with --json lines); --only a,b,c,restart,ingest,size,checksums,idle;
 *     --before DIR: the ingest of another checkout, in turns with ours
 *   npm run bench -- sync --files 100000 --readings 10000000 --megabytes 5000 --seconds 60   capture and sync compared with their
 *     requirements, a table (with --json lines); --only backlog,fast,many,thousand,camera,large,month
 *   npm run bench -- fleet --parts 500 --seconds 20   a smaller fleet, a shorter run (default 10,000 and 60)
 */
import { parseArgs } from 'node:util';
import { measureLimits } from '../limits/measure-limits.ts';
import { measureAck } from './ack.ts';
import { measureCapture } from './capture.ts';
import { printFigures } from './figures/print-figures.ts';
import { measureFleet } from './fleet/fleet.ts';
import type { Load } from './fleet/load.ts';
import { measurePresence } from './fleet/presence.ts';
import { measureIdle } from './idle.ts';
import { measureIngest } from './ingest.ts';
import { measureMachine } from './machine.ts';
import { measureQueries, printLines } from './queries.ts';
import { measureStart } from './start.ts';
import { measureStore, printFigureTable } from './store.ts';
import { measureSync } from './sync.ts';
import { measureWebhook } from './webhook.ts';

/** One run of a bench: figures by name; the name ends in the unit. */
export type Measure = (load: Load) => Promise<Readonly<Record<string, number>>>;

const benches: Readonly<Record<string, Measure>> = {
  limits: measureLimits,
  ingest: measureIngest,
  ack: measureAck,
  webhook: measureWebhook,
  capture: measureCapture,
  idle: measureIdle,
  start: measureStart,
  fleet: measureFleet,
  presence: measurePresence,
  machine: measureMachine,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    parts: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    readings: { type: 'string' },
    files: { type: 'string' },
    megabytes: { type: 'string', default: '5000' },
    repetitions: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    before: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const known = [...Object.keys(benches), 'queries', 'store', 'sync'];
const names = positionals.includes('all') ? known : positionals;
const unknown = names.filter((name) => !known.includes(name));
if (names.length === 0 || unknown.length > 0) {
  console.error(`bench: expected all or some of ${known.join(', ')}, found ${unknown.join(', ') || 'none'}`);
  process.exit(2);
}
const runs = Number(values.runs);
const load: Load = { parts: Number(values.parts), seconds: Number(values.seconds) };
for (const name of names) {
  if (name === 'queries') {
    const [repetitions, seed] = [Number(values.repetitions), Number(values.seed)];
    const readings = Number(values.readings ?? 5_000_000);
    printLines(
      await measureQueries({ readings, files: Number(values.files ?? 1_000), repetitions, seed }),
      values.json,
    );
    continue;
  }
  if (name === 'store') {
    const { only, before, json } = values;
    const readings = Number(values.readings ?? 5_000_000);
    printFigureTable(await measureStore({ readings, runs, seconds: load.seconds, only, before }), json);
    continue;
  }
  if (name === 'sync') {
    const { only, json, megabytes } = values;
    const [files, readings] = [Number(values.files ?? 100_000), Number(values.readings ?? 10_000_000)];
    const figures = await measureSync({ files, readings, megabytes: Number(megabytes), seconds: load.seconds, only });
    printFigureTable(figures, json, name);
    continue;
  }
  const results: Readonly<Record<string, number>>[] = [];
  for (let run = 0; run < runs; run++) results.push(await (benches[name] as Measure)(load));
  printFigures(name, results);
}
process.exit(0);
