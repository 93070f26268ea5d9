/** Converts a caught value to the error for the caller, in a form that can be sent to another thread or process. */
import { asPlatformError, type CodeName, ownFault, PlatformError, resourceExhausted, stackText } from '@platform/base';
import { QueryError } from '@platform/query';

export function queryFailure(caught: unknown): PlatformError {
  if (caught instanceof QueryError) return caught.toPlatformError();
  if (caught instanceof PlatformError || !(caught instanceof Error)) return asPlatformError(caught);
  const { message } = caught;
  if (/^Out of Memory Error/.test(message)) return outOfMemory(caught);
  const [, code, text] = engineFaults.find(([pattern]) => pattern.test(message)) ?? [];
  return code === undefined || text === undefined ? asPlatformError(caught) : ownFault(code, text, 'DuckDB', caught);
}

export function outOfMemory(cause: unknown): PlatformError {
  return resourceExhausted(
    'the query needs more memory than this installation allows; filter on a shorter time_received range or on fewer components, and build smaller values',
    cause,
  );
}

/** DuckDB errors, matched by their beginning, that tell the caller whether to retry; the first match wins. All others are INTERNAL. */
const engineFaults: readonly (readonly [RegExp, CodeName, string])[] = [
  [
    /^IO Error.*(No space left|disk quota|ENOSPC)/is,
    'resource_exhausted',
    'the disk of the server is full; try again when there is space',
  ],
  [
    /^IO Error.*(could not set lock|conflicting lock|too many open files)/is,
    'unavailable',
    'stored readings are in use by another process; try again in a moment',
  ],
  [
    /^(IO|Invalid Input|Invalid|Serialization|Corrupt|Parquet) Error.*(magic bytes|corrupt|decompress|checksum|thrift|TProtocol|out of buffer|page header|could not read enough|too small to be a parquet|not a parquet)/is,
    'data_loss',
    'stored readings are damaged and cannot be returned; meanwhile, queries that do not need them work, such as those for other times, parts or components',
  ],
  [/^IO Error/, 'unavailable', 'stored readings cannot be read now; try again in a moment'],
];

/** A PlatformError as plain data. */
export interface Failure {
  readonly code: CodeName;
  readonly message: string;
  /** Cause of an internal error: for the log, never for the caller (D37). */
  readonly cause?: string;
}

export function failureOf(caught: unknown): Failure {
  const { code, message, isOwnFault } = queryFailure(caught);
  return { code, message, ...(isOwnFault && { cause: stackText(caught) }) };
}

export function errorOf({ code, message, cause }: Failure): PlatformError {
  return new PlatformError(code, message, cause, { isOwnFault: cause !== undefined });
}
