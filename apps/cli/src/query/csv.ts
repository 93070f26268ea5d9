/**
 * CSV according to RFC 4180: commas, double quotes, CRLF, column names in the first line.
 *
 * Spreadsheets interpret a cell that begins with = + - @ as a formula, so the data of a machine could attack whoever opens the
 * file. Therefore texts (and column names) that begin with one of these, with a tab or with a line end, are prefixed with an
 * apostrophe. Numbers are unchanged. Use JSON to get every text exactly. Null and missing values are empty cells; an empty string
 * is "".
 */
import type { Scalar } from '@platform/sdk/cloud';
import { cellsOf, inferColumns } from '../data/infer-columns.ts';

/** One line including the line end. */
export function csvLine(cells: readonly (string | Scalar | undefined)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(value: string | Scalar | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value === '' ? '""' : quoted(guarded(value));
  if (value.json === 'null') return '';
  return quoted(value.isNumber ? value.text : guarded(value.text));
}

function guarded(text: string): string {
  return /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spool as CSV: see csv.ts for the format of a cell. The first line names the columns. */
export async function* csvLines(spool: string): AsyncGenerator<string> {
  const names = [...(await inferColumns(spool, 'CSV')).keys()];
  yield csvLine(names);
  for await (const cells of cellsOf(spool)) yield csvLine(names.map((name) => cells.get(name)));
}
