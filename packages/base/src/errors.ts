/**
 * The one error class of the platform, and the one place where caught values are interpreted.
 *
 * A message says what was expected, what was found, where, and what to do.
 */

/** gRPC status codes by name, with their numbers on the wire. */
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
  /** The fault is on our side: the code that answers the caller logs the cause and gives the caller a reference to the log line (D37). */
  readonly isOwnFault: boolean;
  /** How long the peer asks to wait before the next try; undefined: it does not say. Crosses the wire. */
  readonly retryAfterMs: number | undefined;

  /** @param code gRPC status name. @param message expected, found, where. @param cause what was caught, kept for logs only. */
  constructor(
    code: CodeName,
    message: string,
    cause?: unknown,
    {
      isOwnFault = code === 'internal' || code === 'unknown',
      retryAfterMs,
    }: { readonly isOwnFault?: boolean; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.isOwnFault = isOwnFault;
    this.retryAfterMs = retryAfterMs;
  }
}

/** `invalid_argument` about one value. @param path of the value. @param expected in words. @param found shown as JSON */
export function invalidValue(path: string, expected: string, found: unknown): PlatformError {
  // JSON has no NaN and no infinities.
  const shown = typeof found === 'number' ? String(found) : JSON.stringify(found);
  return new PlatformError('invalid_argument', `${path}: expected ${expected}, found ${shown}`);
}

/**
 * A fault on our side whose code tells the caller what to do.
 *
 * @param message for the caller: no files, addresses, statements or texts of libraries. @param detail for the log.
 */
export function ownFault(code: CodeName, message: string, detail: string, caught?: unknown): PlatformError {
  const cause = new Error(detail, caught === undefined ? undefined : { cause: caught });
  return new PlatformError(code, message, cause, { isOwnFault: true });
}

const full = {
  code: 'resource_exhausted',
  message: 'the disk of the server is full; try again when there is space',
} as const;
const busy = {
  code: 'unavailable',
  message: 'the server has run out of files or processes; try again in a moment',
} as const;
const systemFaults: Readonly<Record<string, typeof full | typeof busy>> = {
  ENOSPC: full,
  EDQUOT: full,
  EMFILE: busy,
  ENFILE: busy,
  EAGAIN: busy,
};

/**
 * Interprets a caught value. A PlatformError passes and an abort becomes `canceled`. A system error gets its own code if it is temporary or
 * goes away when space is freed. Anything else is `internal` (never `unknown`, which public machine-servers read as "configuration
 * malformed", D4).
 */
export function asPlatformError(caught: unknown): PlatformError {
  if (caught instanceof PlatformError) return caught;
  if (caught instanceof Error) {
    if (caught.name === 'AbortError') return new PlatformError('canceled', 'the call was cancelled', caught);
    const ofSystem = 'code' in caught ? systemFaults[String(caught.code)] : undefined;
    if (ofSystem !== undefined) return ownFault(ofSystem.code, ofSystem.message, caught.message, caught);
    return new PlatformError('internal', caught.message, caught);
  }
  return new PlatformError('internal', String(caught), caught);
}

/**
 * The text of a caught value with its causes, for logs. A cause that the message already contains (with or without `[code]` before it) is
 * not repeated.
 */
export function errorText(caught: unknown): string {
  if (!(caught instanceof Error)) return String(caught);
  if (caught.cause === undefined) return caught.message;
  const cause = errorText(caught.cause).replace(/^\[\w+\](?: |$)/, '');
  return caught.message.includes(cause) ? caught.message : `${caught.message}: ${cause}`;
}

/** The stacks of a caught value and of its causes, for logs. */
export function stackText(caught: unknown): string {
  const stacks: string[] = [];
  for (
    let each = caught;
    each !== undefined && stacks.length < maxCauses;
    each = each instanceof Error ? each.cause : undefined
  )
    stacks.push(each instanceof Error ? (each.stack ?? each.message) : String(each));
  return stacks.join('\ncaused by: ').slice(0, maxStackLength);
}

const maxCauses = 8;
/** Stacks are cut because an SQL statement in one may have any length. */
const maxStackLength = 16_384;
