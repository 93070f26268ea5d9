/** Limits what a JSON text becomes when parsed, which its length does not (D48). */
import { PlatformError } from '@platform/base';
import { findJsonExcess } from '@platform/rpc/server';

/**
 * To be called before the text is parsed. A separator or bracket counts two, as in requests in JSON.
 *
 * @param what names the text, for the error. @throws resource_exhausted with the cause, naming the outermost member with too many
 */
export function requireFewElements(what: string, text: string, maxElements: number, cause?: unknown): void {
  if (text.length <= maxElements / 2) return;
  const excess = findJsonExcess(Buffer.from(text), maxElements);
  if (excess !== undefined)
    throw new PlatformError(
      'resource_exhausted',
      `${what}: expected at most ${maxElements} fields and elements (a separator or bracket counts two), found more ${excess.of} in ${JSON.stringify(excess.where)}`,
      cause,
    );
}
