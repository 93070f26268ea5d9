/** What a caught value means for the one who asked the query. */
import { asPlatformError, PlatformError } from '@platform/base';
import { QueryError } from '@platform/query';

export function queryFailure(caught: unknown): PlatformError {
  if (caught instanceof QueryError) return caught.toPlatformError();
  if (caught instanceof Error && /^Out of Memory Error/.test(caught.message)) return outOfMemory(caught);
  return asPlatformError(caught);
}

export function outOfMemory(cause: unknown): PlatformError {
  return new PlatformError(
    'resource_exhausted',
    'the query needs more memory than this installation allows; filter on a shorter time_received range or on fewer components, and build smaller values',
    cause,
  );
}
