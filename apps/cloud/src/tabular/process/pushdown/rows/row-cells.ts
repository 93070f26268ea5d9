/** The columns of an answer out of which rows are written, each once. */
import { fileMarker } from '../statement.ts';

/** Where in the answer the columns stand; first those that every answer has. */
export class RowCells {
  readonly sql: string[] = [fileMarker, 'series'];

  of(sql: string | undefined): number {
    if (sql === undefined) return -1;
    const known = this.sql.indexOf(sql);
    return known >= 0 ? known : this.sql.push(sql) - 1;
  }
}
