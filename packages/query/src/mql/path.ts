/** Field paths as users write them. */

import type { Path } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';

/** A path in an expression or a specification: no empty parts, no part that begins with `$`. */
export function parseFieldPath(text: string): Path {
  if (text === '') throw new QueryError(40352, 'a field path must not be empty');
  const parts = text.split('.');
  if (text.endsWith('.')) throw new QueryError(40353, `a field path must not end with a dot: '${text}'`);
  for (const part of parts) {
    if (part === '') throw new QueryError(15998, `a field path must not have empty parts: '${text}'`);
    if (part.startsWith('$')) throw new QueryError(16410, `a part of a field path must not start with '$': '${text}'`);
    if (part.includes('\0')) throw new QueryError(16411, 'a field path must not contain a null byte');
  }
  if (parts.length > 200)
    throw new QueryError('Overflow', `a field path can have at most 200 parts, this one has ${parts.length}`);
  return parts;
}
