/** SQL: a SELECT statement becomes the same plan that MQL does. */

import { readingColumns } from '../plan/columns.ts';
import type { Plan } from '../plan/stage.ts';
import { QueryError, reading } from '../query-error.ts';
import { compileSelect } from './compile.ts';
import { Cursor } from './cursor.ts';
import { lex } from './lex.ts';
import { parseSelect } from './statement.ts';

/** A statement of more UTF-16 units than this is refused. */
export const maxStatementLength: number = 1024 * 1024;

/** Names of tables → their columns; null where any name is a column. */
export type Tables = Readonly<Record<string, readonly string[] | null>>;

const readings: Tables = { readings: readingColumns };

/** @throws QueryError with line, column and mostly a hint. */
export function parseSql(text: string, tables: Tables = readings): Plan {
  if (text.length > maxStatementLength) {
    throw new QueryError(
      'BadValue',
      `a statement may have ${maxStatementLength} characters, this one has ${text.length}`,
    );
  }
  return reading(() => compileSelect(parseSelect(new Cursor(lex(text))), tables));
}
