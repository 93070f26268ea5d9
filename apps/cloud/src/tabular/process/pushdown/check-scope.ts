/** The last check before rows are returned: a row outside a query's scope ends the query, whatever the cause. */
import type { OpenFile } from './open-files.ts';
import type { Chunk } from './rows/chunk.ts';

/** Column 0 is the index of the row's file in the list, column 1 the number of its series in that file. */
export function checkScope(chunk: Chunk, files: readonly OpenFile[]): void {
  const [file, series] = [chunk.int32(0), chunk.int32(1)];
  for (let row = 0; row < chunk.rows; row++)
    if (files[file[row] as number]?.allowed[series[row] as number] !== 1)
      throw new Error('a row outside the scope of the query was read; nothing is answered');
}

/** Whether a series number has the same scope in all files. */
export function haveSameScope([first, ...others]: readonly OpenFile[]): boolean {
  return others.every(({ allowed }) => Buffer.compare(allowed, first?.allowed ?? allowed) === 0);
}
