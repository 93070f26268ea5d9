/** Prints rows as a table, lines of JSON or CSV on standard output, and their cost on standard error. */
import { invalidArgument } from '@platform/base/refusals';
import { printable, type RowFields, readRow, relaxedJson, Scalar } from '@platform/sdk/cloud';
import type { Command } from 'commander';
import { choice } from '../invocation/choice.ts';
import type { Context } from '../invocation/context.ts';
import type { Flags } from '../invocation/define-command.ts';
import type { OutputStyle } from '../results/output.ts';
import { amount, bytesText } from './amounts.ts';
import { csvLine } from './csv.ts';
import { flatten } from './flatten.ts';
import { rowsTable } from './rows-table.ts';
import type { Answer } from './run-query.ts';

export type Format = 'table' | 'json' | 'csv';

export function answerOptions(command: Command): Command {
  return command
    .addOption(choice('--format <format>', 'output format of the rows (default: table)', ['table', 'json', 'csv']))
    .option('--csv', 'same as --format csv: columns are flattened paths')
    .option('--explain', 'show how the query runs instead of its rows')
    .option('--data <dir>', 'data directory of a cloud on this computer; uses the key of its demo');
}

/** Options take precedence over PLATFORM_OUTPUT. @throws invalid_argument for several formats */
export function formatOf({ flags: { json }, out }: Context, flags: Flags): Format {
  const asked = [
    ...(flags['format'] === undefined ? [] : [flags['format'] as Format]),
    ...(flags['csv'] === true ? (['csv'] as const) : []),
    ...(json === undefined ? [] : (['json'] as const)),
  ];
  const [first, ...others] = new Set(asked);
  if (others.length > 0) throw invalidArgument(`expected one format, found ${[first, ...others].join(' and ')}`);
  return first ?? (out.style.json === false ? 'table' : 'json');
}

/** @param format `explained`: the rows are documents for people to read */
export async function printAnswer(context: Context, format: Format | 'explained', answer: Answer): Promise<void> {
  const { out, signal } = context;
  if (format === 'explained') {
    for (const bson of answer.rows) {
      const text = relaxedJson(readRow(bson));
      // A short document whose numbers JSON.parse can represent.
      if (out.style.json === false) out.raw(JSON.stringify(JSON.parse(text), null, 2));
      else await out.piece(`${printable(text)}\n`, signal);
    }
  } else if (format === 'table') printTable(context, answer);
  else if (format === 'csv') await printCsv(context, answer);
  else for (const bson of answer.rows) await out.piece(`${jsonLine(context, bson)}\n`, signal);
  const { rows, scannedBytes, elapsedMs, notices } = answer;
  if (format === 'table') for (const notice of notices) out.note(`Note: ${notice}`);
  const scanned = scannedBytes === undefined ? [] : [`${bytesText(scannedBytes)} scanned`];
  const counted = format === 'explained' ? [] : [amount(rows.length, 'row')];
  out.note([...counted, ...scanned, `${Math.round(elapsedMs)} ms`].join(' · '));
}

function printTable({ out }: Context, { rows }: Answer): void {
  if (rows.length === 0) return;
  const { text, hidden } = rowsTable(
    rows.map((bson) => flatten(readRow(bson))),
    out.style,
  );
  out.drawn(text);
  if (hidden.length > 0) {
    const named = hidden.slice(0, 10).join(', ') + (hidden.length > 10 ? ', …' : '');
    out.note(`${amount(hidden.length, 'column')} not shown (${named}): --json and --csv print all`);
  }
}

async function printCsv({ out, signal }: Context, { rows }: Answer): Promise<void> {
  const columns = new Set<string>();
  for (const bson of rows) for (const path of flatten(readRow(bson)).keys()) columns.add(path);
  if (columns.size > 0) await out.piece(csvLine([...columns]), signal);
  for (const bson of rows) {
    const cells = flatten(readRow(bson));
    await out.piece(csvLine(Array.from(columns, (path) => cells.get(path))), signal);
  }
}

function jsonLine({ out }: Context, bson: Uint8Array): string {
  return printable(relaxedJson(pickFields(readRow(bson), out.style.json)));
}

/** The fields that --json selects, in its order; missing ones are null. */
export function pickFields(row: RowFields, json: OutputStyle['json']): RowFields {
  return typeof json === 'boolean' ? row : new Map(json.map((name) => [name, row.get(name) ?? new Scalar('null')]));
}
