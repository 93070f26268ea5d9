/** Turns errors of the JavaScript engine's limits into query errors. */

import { QueryError } from '../../query-error.ts';

/** Limits on texts, arrays and the stack: the query asked for too much, but nothing is broken. */
export function engineLimitError(caught: unknown): unknown {
  if (!(caught instanceof RangeError)) return caught;
  const isStack = caught.message.includes('call stack');
  const reason = isStack
    ? 'the query or its values are nested too deeply to be evaluated'
    : `the query needs more memory than is available (${caught.message})`;
  return new QueryError('ExceededMemoryLimit', reason, {
    hint: 'build smaller strings, arrays and documents, and nest them less deeply',
  });
}
