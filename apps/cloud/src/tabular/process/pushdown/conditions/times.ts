/** Stored times are whole microseconds; times in queries are whole milliseconds (D35). */

/** Milliseconds of a microseconds column, rounded down even before 1970. The smallest int64 stays in range; NULL stays NULL. */
export function millisecondsSql(column: string): string {
  return `(${column} // 1000 - CASE WHEN ${column} % 1000 < 0 THEN 1 ELSE 0 END)`;
}
