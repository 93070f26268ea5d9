/** The one sentence for a request message over the limit, whoever notices it. */
import { PlatformError } from '@platform/base';

/** @param found how many bytes, or `more` when no one counted to the end. */
export function messageTooLarge(maxBytes: number, found: string): PlatformError {
  return new PlatformError(
    'resource_exhausted',
    `expected a request message of at most ${maxBytes} bytes (maxMessageBytes), found ${found}: split it into several`,
  );
}
