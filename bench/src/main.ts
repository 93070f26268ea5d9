/**
 * Measurements of the running product beside the raw limits of this computer, as JSON lines: one for each figure, the
 * median over the runs with the runs themselves.
 *
 *   npm run bench -- all               every bench
 *   npm run bench -- ingest ack        some
 *   npm run bench -- ingest --runs 5   more runs (default 3)
 *   npm run bench -- fleet --parts 500 --seconds 20   a smaller fleet, a shorter look (default 10,000 and 60)
 */
import { parseArgs } from 'node:util';
import { measureLimits } from '../limits/measure-limits.ts';
import { measureAck } from './ack.ts';
import { measureCapture } from './capture.ts';
import { measureFleet } from './fleet.ts';
import { measureIdle } from './idle.ts';
import { measureIngest } from './ingest.ts';
import type { Load } from './load.ts';
import { measurePresence } from './presence.ts';
import { printFigures } from './print-figures.ts';
import { measureStart } from './start.ts';
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
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    parts: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
  },
});
const names = positionals.includes('all') ? Object.keys(benches) : positionals;
const unknown = names.filter((name) => !(name in benches));
if (names.length === 0 || unknown.length > 0) {
  console.error(
    `bench: expected all or some of ${Object.keys(benches).join(', ')}, found ${unknown.join(', ') || 'none'}`,
  );
  process.exit(2);
}
const runs = Number(values.runs);
const load: Load = { parts: Number(values.parts), seconds: Number(values.seconds) };
for (const name of names) {
  const results: Readonly<Record<string, number>>[] = [];
  for (let run = 0; run < runs; run++) results.push(await (benches[name] as Measure)(load));
  printFigures(name, results);
}
process.exit(0);
