/** A spool as CSV: see csv.ts for the format of a cell. */
import { csvLine } from '../query/csv.ts';
import { cellsOf, inferColumns } from './infer-columns.ts';

/** The first line names the columns. */
export async function* csvLines(spool: string): AsyncGenerator<string> {
  const names = [...(await inferColumns(spool, 'CSV')).keys()];
  yield csvLine(names);
  for await (const cells of cellsOf(spool)) yield csvLine(names.map((name) => cells.get(name)));
}
