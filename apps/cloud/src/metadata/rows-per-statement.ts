/** Maximum rows or ids per statement: either store binds at most 32,766 values, and a row has up to two dozen. */
export const rowsPerStatement = 200;
