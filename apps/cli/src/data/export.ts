/** `platform data export`. */
import { extname, resolve } from 'node:path';
import { PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choice } from '../invocation/choice.ts';
import type { Context } from '../invocation/context.ts';
import { defineCommand, type Flags } from '../invocation/define-command.ts';
import { timeBefore } from '../invocation/parse-time.ts';
import { amount } from '../query/amounts.ts';
import type { ExportFormat } from './export-record.ts';
import type { Asked, ExportPlan } from './export-state.ts';
import { exportToFile } from './export-to-file.ts';
import { exportToOutput } from './export-to-output.ts';
import { findSeries } from './find-series.ts';

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
        throw new PlatformError(
          'invalid_argument',
          `${format === 'parquet' ? '--format parquet' : '--resume'} requires --output FILE`,
        );
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

function timesOf(flags: Flags): { fromMs?: number; untilMs?: number } {
  const msOf = (name: 'since' | 'until'): number | undefined =>
    flags[name] === undefined ? undefined : timeBefore(String(flags[name]), `--${name}`).getTime();
  const [fromMs, untilMs] = [msOf('since'), msOf('until')];
  if (fromMs !== undefined && untilMs !== undefined && fromMs >= untilMs)
    throw new PlatformError(
      'invalid_argument',
      `--since: expected a time before --until, found "${flags['since']}" and "${flags['until']}"`,
    );
  return { ...(fromMs === undefined ? {} : { fromMs }), ...(untilMs === undefined ? {} : { untilMs }) };
}

async function askedOf(context: Context, partId: string, flags: Flags): Promise<Asked> {
  const { url } = await context.login();
  const text = (name: string): string | null => (flags[name] === undefined ? null : String(flags[name]));
  return { url, partId, resource: text('resource'), method: text('method'), from: text('since'), to: text('until') };
}
