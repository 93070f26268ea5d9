/** What the JavaScript engine refuses becomes an error of the query. */

import { QueryError } from '../query-error.ts';

/** Its limits on texts, arrays and the stack: the query asked for more, nothing is broken. */
export function outgrown(caught: unknown): unknown {
  if (!(caught instanceof RangeError)) return caught;
  return new QueryError('ExceededMemoryLimit', `the query needs more than can be held at once (${caught.message})`, {
    hint: 'build smaller texts, arrays and documents, and nest them less deeply',
  });
}
