/** The one error for a request message over the limit, wherever it is noticed. */
import { type PlatformError, resourceExhausted } from '@platform/base';

/** @param found how many bytes, or `more` if they were not counted to the end. */
export function messageTooLarge(maxBytes: number, found: string): PlatformError {
  return resourceExhausted(
    `expected a request message of at most ${maxBytes} bytes (maxMessageBytes), found ${found}: split it into several`,
  );
}
