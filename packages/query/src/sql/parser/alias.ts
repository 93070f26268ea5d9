import type { Cursor } from './cursor.ts';
import { isName } from './keywords.ts';

/** With or without AS; a bare word that is reserved belongs to the next clause. */
export function parseAlias(cursor: Cursor): string | undefined {
  if (cursor.take('AS')) return cursor.name('an alias');
  return isName(cursor.peek()) ? cursor.next().text : undefined;
}
