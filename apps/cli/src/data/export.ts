/** `platform data export`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { invalidArgument } from '@platform/base/refusals';
import { type Cloud, type JsonObject, printable } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choice } from '../invocation/choice.ts';
import type { Context } from '../invocation/context.ts';
import { defineCommand, type Flags } from '../invocation/define-command.ts';
import { sinceAndUntil } from '../invocation/time-range.ts';
import { amount } from '../query/amounts.ts';
import { csvLines } from '../query/csv.ts';
import type { ExportFormat } from './export-record.ts';
import type { Asked, ExportPlan } from './export-state.ts';
import { exportToFile } from './export-to-file.ts';
import { jsonText } from './exported-line.ts';
import { findSeries } from './find-series.ts';
import { type Range, readSeries } from './read-series.ts';
import { openSpool } from './spool.ts';
import { createTransferProgress } from './transfer-progress.ts';

export function exportCommand(): Command {
  return defineCommand(
    new Command('export')
      .description('write the readings of a part to a file or standard output, oldest first')
      .requiredOption('--part <part>', 'id, Machine/part, or a machine (for its main part)')
      .option('--resource <name>', 'only of this resource; core:component:sensor/NAME if several have the name')
      .option('--method <name>', 'only of this capture method')
      .option('--since <when>', 'captured since this time: a duration such as 24h, or a time')
      .option('--until <when>', 'captured before this time: a duration such as 1h, or a time')
      .addOption(
        choice('--format <format>', 'default: from the file name, otherwise ndjson', ['ndjson', 'csv', 'parquet']),
      )
      .option('--output <file>', 'file to write (default: standard output)')
      .option('--resume', 'continue an interrupted export to this file, or start one if there is none'),
    {
      examples: [
        'platform data export --part press-7 --output press.parquet',
        'platform data export --part press-7 --resource oven --since 24h --output oven.csv --resume',
        'platform data export --part press-7 --resource oven --method Readings > oven.ndjson',
      ],
      fields: ['the columns of the readings', 'with --output: file', 'format', 'rows'],
    },
    async (context, flags) => {
      const { out } = context;
      const file = flags['output'] === undefined ? undefined : resolve(String(flags['output']));
      const format = formatOf(flags, file);
      if (file === undefined && (format === 'parquet' || flags['resume'] === true))
        throw invalidArgument(`${format === 'parquet' ? '--format parquet' : '--resume'} requires --output FILE`);
      const times = timesOf(flags);
      const { data } = await context.cloud();
      const { id: partId, organizationId } = await context.find.ownPart(String(flags['part']));
      const asked = await askedOf(context, partId, flags);
      const plan = async (): Promise<ExportPlan> => {
        const named = { resource: asked.resource ?? undefined, method: asked.method ?? undefined };
        const series = await findSeries(data, { organizationId, partId: asked.partId, ...named, ...times });
        return { asked, series, ...times };
      };
      if (file === undefined) return exportToOutput(context, data, await plan(), format === 'csv' ? 'csv' : 'ndjson');
      const done = await exportToFile(context, data, { file, format, resume: flags['resume'] === true, asked, plan });
      if (out.style.json === false) {
        const rows = amount(done.rows, 'row');
        out.note(done.already ? `${file} is already complete: ${rows}` : `${rows} in ${file}`);
      } else out.object({ file, format, rows: done.rows });
    },
  );
}

/** The --format option, otherwise the format of the file name. */
function formatOf(flags: Flags, file: string | undefined): ExportFormat {
  const given = flags['format'] as ExportFormat | undefined;
  if (given !== undefined || file === undefined) return given ?? 'ndjson';
  const called: Readonly<Record<string, ExportFormat>> = { '.csv': 'csv', '.parquet': 'parquet' };
  return called[extname(file).toLowerCase()] ?? 'ndjson';
}

function timesOf(flags: Flags): Range {
  const [fromMs, untilMs] = sinceAndUntil(flags).map((at) => at?.getTime());
  if (fromMs !== undefined && untilMs !== undefined && fromMs >= untilMs)
    throw invalidArgument(`--since: expected a time before --until, found "${flags['since']}" and "${flags['until']}"`);
  return { fromMs, untilMs };
}

async function askedOf(context: Context, partId: string, flags: Flags): Promise<Asked> {
  const { url } = await context.login();
  const text = (name: string): string | null => (flags[name] === undefined ? null : String(flags[name]));
  return { url, partId, resource: text('resource'), method: text('method'), from: text('since'), to: text('until') };
}

/** Exports to standard output: lines as they arrive. CSV goes through a temporary file, because its columns are known only at the end. */
async function exportToOutput(
  context: Context,
  data: Cloud['data'],
  plan: ExportPlan,
  format: 'ndjson' | 'csv',
): Promise<void> {
  if (format === 'csv') await printCsv(context, data, plan);
  else
    await eachLine(context, data, plan, (line) =>
      context.out.piece(`${printable(picked(context, line))}\n`, context.signal),
    );
}

async function printCsv(context: Context, data: Cloud['data'], plan: ExportPlan): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'platform-export-'));
  const path = join(directory, 'rows');
  try {
    await using spool = await openSpool(path, true);
    await eachLine(context, data, plan, (line) => spool.append(line));
    await spool.sync();
    for await (const line of csvLines(path)) await context.out.piece(line, context.signal);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function eachLine(
  context: Context,
  data: Cloud['data'],
  { asked: { partId }, series, fromMs, untilMs }: ExportPlan,
  take: (line: string) => Promise<void>,
): Promise<void> {
  const total = series.reduce((sum, { rows }) => sum + rows, 0);
  using progress = createTransferProgress(context, { before: 0, total, shown: !context.invocation.stdout.isTTY });
  for (const one of series) {
    for await (const { text } of readSeries(data, partId, one, { fromMs, untilMs })) {
      await take(text);
      progress.add(text.length);
    }
  }
  context.out.note(progress.summary());
}

/** The fields selected by --json. */
function picked({ out }: Context, line: string): string {
  const { json } = out.style;
  if (typeof json === 'boolean') return line;
  const row: JsonObject = JSON.parse(line);
  return jsonText(Object.fromEntries(json.map((name) => [name, row[name] ?? null])));
}
