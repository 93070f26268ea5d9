/** Exports to standard output: lines as they arrive. CSV goes through a temporary file, because its columns are known only at the end. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cloud, type JsonObject, printable } from '@platform/sdk/cloud';
import type { Context } from '../invocation/context.ts';
import type { ExportPlan } from './export-state.ts';
import { jsonText } from './exported-line.ts';
import { readSeries } from './read-series.ts';
import { openSpool } from './spool.ts';
import { createTransferProgress } from './transfer-progress.ts';
import { csvLines } from './write-csv.ts';

export async function exportToOutput(
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
