/** Stored times are whole microseconds, those of queries whole milliseconds (D35). */

/** Milliseconds of a column of microseconds, rounded down, before 1970 too; the smallest int64 stays in range, NULL stays NULL. */
export function millisecondsSql(column: string): string {
  return `(${column} // 1000 - CASE WHEN ${column} % 1000 < 0 THEN 1 ELSE 0 END)`;
}
