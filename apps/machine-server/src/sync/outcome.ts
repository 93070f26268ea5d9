import { asPlatformError, type CodeName } from '@platform/base';
import { CallCutOff } from '@platform/rpc/client';

/** How an attempt to send a file ended. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly readings: number }
  /** The file is gone. */
  | { readonly kind: 'gone' }
  /** The file itself will never be accepted. */
  | { readonly kind: 'aside'; readonly reason: string }
  /** `retryAfterMs`: the wait requested by the cloud. `isCutOff`: the connection ended during the call; the next one may succeed. */
  | {
      readonly kind: 'later';
      readonly code: CodeName;
      readonly message: string;
      readonly retryAfterMs?: number | undefined;
      readonly isCutOff: boolean;
    };

/** Errors about the file itself, which are final (D15); everything else is retried forever. */
const final: ReadonlySet<CodeName> = new Set(['invalid_argument', 'already_exists', 'data_loss']);

/** The outcome of a failed attempt for the file. */
export function outcomeOf(caught: unknown): Outcome {
  const { code: system } = caught as NodeJS.ErrnoException;
  if (system === 'ENOENT' || system === 'ENOTDIR' || system === 'ELOOP') return { kind: 'gone' };
  const { code, message, retryAfterMs, cause } = asPlatformError(caught);
  return final.has(code)
    ? { kind: 'aside', reason: `${code}: ${message}` }
    : { kind: 'later', code, message, retryAfterMs, isCutOff: cause instanceof CallCutOff };
}

/** Whether the cause is the cloud and not the file: other files would fail in the same way. */
export function isOfCloud({ code, retryAfterMs, isCutOff }: Extract<Outcome, { kind: 'later' }>): boolean {
  return (code === 'unavailable' && !isCutOff) || (code === 'resource_exhausted' && retryAfterMs !== undefined);
}
