/** The distinct result columns from which rows are written. */
import { fileMarker } from '../statement.ts';

/** Positions of the columns in the result; those that every result has come first. */
export class RowCells {
  readonly sql: string[] = [fileMarker, 'series'];

  of(sql: string | undefined): number {
    if (sql === undefined) return -1;
    const known = this.sql.indexOf(sql);
    return known >= 0 ? known : this.sql.push(sql) - 1;
  }
}
