/** The condition that a row comes after a place in rows sorted by a time, then by id. */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { PagePlace } from './page-token.ts';

/** @param after undefined: from the beginning. */
export function beyond(
  column: 'captured_us' | 'created_ms',
  after: PagePlace | undefined,
  direction: 'asc' | 'desc' = 'asc',
): Expression<SqlBool> {
  if (after === undefined) return sql<SqlBool>`1 = 1`;
  const [time, further] = [sql.ref(column), sql.raw(direction === 'asc' ? '>' : '<')];
  return sql<SqlBool>`(${time} ${further} ${after.at} or (${time} = ${after.at} and id ${further} ${after.id}))`;
}
