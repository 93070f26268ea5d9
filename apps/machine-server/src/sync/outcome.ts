import { asPlatformError, type CodeName } from '@platform/base';

/** How an attempt to send a file ended. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly readings: number }
  /** The file is gone. */
  | { readonly kind: 'gone' }
  /** The file itself will never be accepted. */
  | { readonly kind: 'aside'; readonly reason: string }
  | { readonly kind: 'later'; readonly code: CodeName; readonly message: string };

/** Errors about the file itself, which are final (D15); everything else is retried forever. */
const final: ReadonlySet<CodeName> = new Set(['invalid_argument', 'already_exists', 'data_loss']);

/** What a failed attempt means for the file. */
export function outcomeOf(caught: unknown): Outcome {
  if ((caught as NodeJS.ErrnoException)?.code === 'ENOENT') return { kind: 'gone' };
  const { code, message } = asPlatformError(caught);
  return final.has(code) ? { kind: 'aside', reason: `${code}: ${message}` } : { kind: 'later', code, message };
}
