/**
 * CSV as RFC 4180 says: commas, double quotes, CRLF, a line with the columns first.
 *
 * Spreadsheets take a cell that begins with = + - @ for a formula, and what a machine measures may be an attack on whoever
 * opens the file. So texts (and names of columns) that begin with one of these, with a tab or with a line end, get an
 * apostrophe before them. Numbers stay what they are. Whoever needs every text exactly takes JSON. Null and missing values
 * are empty cells, a text without characters is "".
 */
import type { Scalar } from '@platform/sdk/cloud';

/** One line with its end. */
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
