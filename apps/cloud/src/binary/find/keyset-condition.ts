/** Conditions for rows after or up to a place, sorted by a time and then by id, in a form that uses the indexes. */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { PagePlace } from './page-token.ts';

type SortedBy = 'binary_data.captured_us' | 'sequences.created_ms';

/** @param after undefined: from the beginning */
export function keysetAfter(
  column: SortedBy,
  after: PagePlace | undefined,
  direction: 'asc' | 'desc' = 'asc',
): Expression<SqlBool> {
  return compared(column, direction === 'asc' ? '>' : '<', after);
}

/** The row at the place and those before it. @param end undefined: all */
export function keysetUpTo(
  column: SortedBy,
  end: PagePlace | undefined,
  direction: 'asc' | 'desc',
): Expression<SqlBool> {
  return compared(column, direction === 'asc' ? '<=' : '>=', end);
}

function compared(column: SortedBy, operator: string, place: PagePlace | undefined): Expression<SqlBool> {
  if (place === undefined) return sql<SqlBool>`1 = 1`;
  const [table] = column.split('.');
  return sql<SqlBool>`(${sql.ref(column)}, ${sql.ref(`${table}.id`)}) ${sql.raw(operator)} (${place.at}, ${place.id})`;
}
