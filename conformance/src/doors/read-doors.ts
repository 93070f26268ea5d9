/** The tables of docs/specs/doors.md, and how a row of them is asked. */
import { readFileSync } from 'node:fs';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../../docs/specs/doors.md', import.meta.url));

export interface Row {
  /** A method and a path, such as `GET /metrics`, or another name. */
  readonly door: string;
  readonly credentials: string;
  /** By who asks. */
  readonly cells: ReadonlyMap<string, string>;
}

/** The rows of the table below this heading, one for each door and credentials: a row of the file may name several. @throws if it has none */
export function rowsOf(heading: string): readonly Row[] {
  const [, section = ''] = readFileSync(file, 'utf8').split(`\n## ${heading}\n`);
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  const [head = [], ...rows] = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  if (rows.length === 0) throw new Error(`${file}: expected a table below "${heading}", found none`);
  return rows.flatMap(([doors = '', credentials = '', ...found]) => {
    const cells = new Map(head.slice(2).map((asker, index) => [asker, found[index] ?? '']));
    return doors
      .replaceAll('`', '')
      .split('<br>')
      .flatMap((door) => credentials.split(' / ').map((each) => ({ door, credentials: each, cells })));
  });
}

/** Whether a path, perhaps with `{name}` for a segment of it, is one of this pattern: `{name}` is any segment, `…` at the end is anything. */
export function isPathOf(pattern: string, path: string): boolean {
  const text = pattern.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${text.replace('…', '.*')}$`).test(path);
}

/** The paths of the pages that these rows name. */
export function pathsIn(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap(({ door }) => /^[A-Z]+ (\/[^\s,]*)/.exec(door)?.[1] ?? []))];
}

export interface Question {
  /** A port of 127.0.0.1, or the path of a socket. */
  readonly at: number | string;
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
}

/** The answer, written as a cell. */
export function ask({ at, method, path, headers, body }: Question): Promise<string> {
  const target = typeof at === 'number' ? { host: '127.0.0.1', port: at } : { socketPath: at };
  return new Promise((resolve, reject) => {
    const asked = request({ ...target, method, path, headers }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      const isEmptyPage = Buffer.concat(pieces).toString().includes('data-step="open"');
      const allowed = response.headers['access-control-allow-origin'];
      const mark = allowed === undefined ? '' : allowed === '*' ? ' *' : allowed === headers['origin'] ? ' =' : ' ?';
      resolve(`${response.statusCode}${isEmptyPage ? ' empty' : ''}${mark}`);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
