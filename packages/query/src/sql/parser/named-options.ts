/** Options that are given by name, such as `WITH PATH => tags`. */

import { type Cursor, fault } from './cursor.ts';

/** At the name of an option. @throws QueryError if it was already given. */
export function once(cursor: Cursor, given: Set<string>): void {
  const name = cursor
    .peek()
    .text.toUpperCase()
    .replace(/^PATHS$/, 'PATH');
  if (given.has(name)) throw fault(cursor.peek(), `${name} occurs twice`);
  given.add(name);
}

export function arrow(cursor: Cursor): void {
  cursor.expect('=>', 'before the value of the option');
}
