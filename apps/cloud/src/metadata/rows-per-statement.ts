/** Rows, or ids, of one statement: it binds at most 32,766 values in either store, and a row has up to two dozen. */
export const rowsPerStatement = 200;
