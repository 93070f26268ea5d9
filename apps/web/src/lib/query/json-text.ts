import type { Row } from './pipeline.ts';

const mostCharacters = 200_000;
const mostInText = 2_000;

/** Rows as JSON for display: long texts are cut, and the output ends after 200,000 characters; the download has all. @param most rows */
export function jsonText(rows: readonly Row[], most: number): string {
  const parts: string[] = [];
  let length = 0;
  for (const row of rows.slice(0, most)) {
    const part = JSON.stringify(row, (_name, value: unknown) => (typeof value === 'string' ? cut(value) : value), 2);
    length += part.length;
    if (length > mostCharacters && parts.length > 0) break;
    parts.push(part.length > mostCharacters ? cut(part) : part);
  }
  const left = rows.length - parts.length;
  return `[\n${parts.join(',\n')}\n]${left > 0 ? `\n… and ${left.toLocaleString()} more rows, in the download` : ''}`;
}

function cut(text: string): string {
  return text.length <= mostInText
    ? text
    : `${text.slice(0, mostInText)} … and ${(text.length - mostInText).toLocaleString()} more characters`;
}
