/** `platform ftdc`: reads full-time diagnostics of a machine-server from its files. */
import { invalidArgument } from '@platform/base/refusals';
import type { Sample } from '@platform/ftdc';
import { Scalar } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineLocalCommand, type Flags } from '../invocation/define-command.ts';
import { spanMs } from '../invocation/parse-time.ts';
import { sinceAndUntil } from '../invocation/time-range.ts';
import { csvLine } from '../query/csv.ts';
import { localSeconds } from '../results/local-time.ts';
import type { OutputStyle } from '../results/output.ts';
import { table } from '../results/table.ts';
import { plot } from './plot.ts';
import { readSamples, skippedText } from './read-samples.ts';
import { metricsOf, type Point, pointsOf, ratesOf, rounded, selectMetrics, steppedBy, summaryOf } from './series.ts';

const summaryFields = ['metric', 'samples', 'min', 'mean', 'max', 'last'];
const plotHeight = 8;
/** Width of a plot that does not go to a terminal. */
const usualWidth = 80;

export function ftdcCommand(): Command {
  return defineLocalCommand(
    new Command('ftdc')
      .description('read the full-time diagnostics of a machine-server: metrics, values and plots')
      .argument('<path>', 'a file NAME.ftdc or a folder of them, such as ~/.platform/ftdc')
      .option('--metric <names>', 'print the values of these metrics, separated by commas; * matches any text')
      .option('--plot', 'draw the metrics of --metric (default: all that change)')
      .option('--rate', 'change per second instead of the value, for counters')
      .option('--step <span>', 'print the mean of each span of this length, such as 1m')
      .option('--since <when>', 'only samples after this time: a duration such as 2h (2 hours ago), or a time')
      .option('--until <when>', 'only samples before this time: a duration such as 1h (1 hour ago), or a time')
      .option('--csv', 'CSV instead of a table'),
    {
      examples: [
        'platform ftdc ~/.platform/ftdc',
        'platform ftdc ~/.platform/ftdc --metric process.rss_bytes --plot --since 2h',
        'platform ftdc ~/.platform/ftdc --metric "process.cpu_*" --rate --step 1m --csv',
      ],
      fields: ['time and the metrics of the option --metric; without it: metric, samples, min, mean, max, last'],
    },
    async (context, flags, path = '') => {
      const { out } = context;
      const read = readSamples(path);
      for (const skipped of read.skipped) out.warn(`skipped ${skippedText(skipped)}`);
      const samples = between(read.samples, flags);
      if (samples.length === 0) return out.note(`${path}: no samples in that time`);
      const known = metricsOf(samples);
      const patterns = String(flags['metric'] ?? '')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
      const chosen = selectMetrics(known, patterns.length === 0 ? ['*'] : patterns);
      const series = new Map(chosen.map((name) => [name, seriesOf(samples, name, flags)]));
      if (flags['plot'] === true) return plotAll(context, series, patterns.length > 0);
      if (patterns.length > 0) await printValues(context, series, flags);
      else await printSummaries(context, series, flags);
      out.note(coverage(samples));
    },
  );
}

function between(samples: readonly Sample[], flags: Flags): readonly Sample[] {
  const [since, until] = sinceAndUntil(flags);
  const [from, to] = [since?.getTime() ?? Number.NEGATIVE_INFINITY, until?.getTime() ?? Number.POSITIVE_INFINITY];
  if (from > to) throw invalidArgument('--since: expected a time before --until');
  return samples.filter(({ timeMs }) => timeMs >= from && timeMs <= to);
}

function seriesOf(samples: readonly Sample[], name: string, flags: Flags): Point[] {
  const points = pointsOf(samples, name);
  const wanted = flags['rate'] === true ? ratesOf(points) : points;
  return flags['step'] === undefined ? wanted : steppedBy(wanted, spanMs(String(flags['step']), '--step'));
}

type Series = ReadonlyMap<string, readonly Point[]>;

async function printSummaries(context: Context, series: Series, flags: Flags): Promise<void> {
  const rows = [...series].map(([metric, points]) => ({ ...summaryOf(metric, points) }));
  if (flags['csv'] !== true) return context.out.rows(rows, summaryFields);
  await printCsv(context, summaryFields, rows);
}

async function printValues(context: Context, series: Series, flags: Flags): Promise<void> {
  const byTime = new Map<number, Record<string, number>>();
  for (const [name, points] of series)
    for (const { timeMs, value } of points) byTime.set(timeMs, { ...byTime.get(timeMs), [name]: rounded(value) });
  const rows: Readonly<Record<string, string | number>>[] = [...byTime]
    .toSorted(([a], [b]) => a - b)
    .map(([timeMs, values]) => ({ time: new Date(timeMs).toISOString(), ...values }));
  const columns = ['time', ...series.keys()];
  const { out } = context;
  if (flags['csv'] === true) await printCsv(context, columns, rows);
  else if (out.style.json !== false || rows.length === 0) out.rows(rows, columns);
  else out.drawn(valuesTable(out.style, columns, rows));
}

/** With the exact names of the metrics, so that they can be copied. */
function valuesTable(
  style: OutputStyle,
  columns: readonly string[],
  rows: readonly Readonly<Record<string, string | number>>[],
): string {
  const shown = (value: string | number | undefined): string | number =>
    typeof value === 'string' && style.width !== undefined ? localSeconds(value) : (value ?? '-');
  const cells = rows.map((row) => columns.map((name) => shown(row[name])));
  return table(columns, cells, { ...style, exactHeads: true });
}

async function printCsv(
  { out, signal }: Context,
  columns: readonly string[],
  rows: readonly Readonly<Record<string, string | number>>[],
): Promise<void> {
  if (out.style.json !== false) throw invalidArgument('expected one format, found --csv and --json');
  await out.piece(csvLine(columns), signal);
  for (const row of rows) await out.piece(csvLine(columns.map((name) => cellOf(row[name]))), signal);
}

function cellOf(value: string | number | undefined): string | Scalar | undefined {
  return typeof value === 'number' ? new Scalar(String(value), String(value), true) : value;
}

/** @param isChosen the user named the metrics: constant ones are also drawn */
function plotAll({ out }: Context, series: Series, isChosen: boolean): void {
  if (out.style.json !== false) throw invalidArgument('expected one format, found --plot and JSON');
  const drawn = [...series].filter(([, points]) => isChosen || points.some(({ value }) => value !== points[0]?.value));
  const size = { width: out.style.width ?? usualWidth, height: plotHeight };
  const isTerminal = out.style.width !== undefined;
  const timeText = (timeMs: number): string => {
    const text = new Date(timeMs).toISOString();
    return isTerminal ? localSeconds(text) : text.replace(/\.\d+Z$/, 'Z');
  };
  if (drawn.length === 0) out.note('no metric changes in that time');
  else out.raw(drawn.map(([name, points]) => plot(name, points, size, timeText)).join('\n\n'));
}

function coverage(samples: readonly Sample[]): string {
  const [first, last] = [samples[0], samples.at(-1)];
  const text = (timeMs = 0): string => new Date(timeMs).toISOString();
  const labels = Object.entries(last?.labels ?? {}).map(([name, value]) => `${name} ${value || '-'}`);
  return [`${samples.length} samples from ${text(first?.timeMs)} to ${text(last?.timeMs)}`, ...labels].join(' · ');
}
