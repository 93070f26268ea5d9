/** Maximum rows or ids per statement: both stores bind at most 32,766 values, and a row has up to two dozen. */
export const rowsPerStatement = 200;
