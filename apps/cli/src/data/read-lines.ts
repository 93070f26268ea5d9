/** The lines of a file of any size. (`node:readline` also splits at U+2028, which JSON allows inside strings.) */
import { createReadStream } from 'node:fs';

export interface Line {
  readonly text: string;
  /** Bytes of the file up to and including the line end; undefined for a last line without one. */
  readonly end: number | undefined;
}

const chunkBytes = 1024 * 1024;

export async function* readLines(path: string): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  let read = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const text = Buffer.concat([...rest, chunk.subarray(from, at)]).toString('utf8');
      rest = [];
      from = at + 1;
      yield { text, end: read + from };
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    read += chunk.length;
  }
  if (rest.length > 0) yield { text: Buffer.concat(rest).toString('utf8'), end: undefined };
}
