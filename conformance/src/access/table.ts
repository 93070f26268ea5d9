/** Reads the table of docs/specs/access.md: what each operation needs, in the words of that page. */
import { readFileSync } from 'node:fs';

const page = new URL('../../../docs/specs/access.md', import.meta.url);

export interface Row {
  /** `Service.Method`. */
  readonly operation: string;
  /** The subject that the request names. */
  readonly on: string;
  /** The role that the caller must have on it. */
  readonly needs: string;
  readonly remark: string;
}

/** The rows by operation. @param text of the page @throws if a row is invalid or occurs twice */
export function readTable(text: string = readFileSync(page, 'utf8')): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const line of text.split('\n')) {
    if (!line.startsWith('| `')) continue;
    const [, first = '', on = '', needs = '', remark = ''] = line.split('|').map((cell) => cell.trim());
    const operation = /^`(\w+\.\w+)`$/.exec(first)?.[1];
    if (operation === undefined || on === '' || needs === '')
      throw new Error(`docs/specs/access.md: expected "| \`Service.Method\` | on | needs | remark |", found ${line}`);
    if (rows.has(operation)) throw new Error(`docs/specs/access.md: ${operation} stands twice`);
    rows.set(operation, { operation, on, needs, remark });
  }
  return rows;
}
