/** Text as CSV (RFC 4180), for spreadsheets. */

/** @param rows of cells; each row becomes a line */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** Spreadsheets run text that begins like a formula, and anyone may have written it. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !isNumber.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const isNumber = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;
