/**
 * The one error class of the platform, and the one place where caught values are interpreted.
 *
 * A message says what was expected, what was found, where, and what to do.
 */

/** gRPC status codes by name; the numbers are those of the wire. */
export const codes = {
  canceled: 1,
  unknown: 2,
  invalid_argument: 3,
  deadline_exceeded: 4,
  not_found: 5,
  already_exists: 6,
  permission_denied: 7,
  resource_exhausted: 8,
  failed_precondition: 9,
  aborted: 10,
  out_of_range: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  data_loss: 15,
  unauthenticated: 16,
} as const;

export type CodeName = keyof typeof codes;

export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly code: CodeName;

  /** @param code gRPC status name. @param message expected, found, where. @param cause what was caught, kept for logs only. */
  constructor(code: CodeName, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/**
 * Interprets a caught value. A PlatformError passes; an abort becomes `canceled`; anything else is `internal`
 * (never `unknown`, which public machine-servers read as "configuration malformed", D4).
 */
export function asPlatformError(caught: unknown): PlatformError {
  if (caught instanceof PlatformError) return caught;
  if (caught instanceof Error) {
    if (caught.name === 'AbortError') return new PlatformError('canceled', 'the call was cancelled', caught);
    return new PlatformError('internal', caught.message, caught);
  }
  return new PlatformError('internal', String(caught), caught);
}

/** The text of a caught value with its causes, for logs. A cause that the message tells already (with `[code]` before it or not) is not repeated. */
export function errorText(caught: unknown): string {
  if (!(caught instanceof Error)) return String(caught);
  if (caught.cause === undefined) return caught.message;
  const cause = errorText(caught.cause).replace(/^\[\w+\] /, '');
  return caught.message.includes(cause) ? caught.message : `${caught.message}: ${cause}`;
}
