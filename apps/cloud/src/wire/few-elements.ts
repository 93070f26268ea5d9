/** Limits what a JSON text becomes when parsed, which its length does not (D48). */
import { invalidArgument, resourceExhausted } from '@platform/base';
import { maxMessageDepth } from '@platform/rpc/client';
import { findJsonExcess } from '@platform/rpc/server';

/**
 * To be called before the text is parsed. A separator or bracket counts two, as in requests in JSON.
 *
 * @param what names the text, for the error. @throws resource_exhausted with the cause, naming the outermost member with too many; invalid_argument
 * for too many levels
 */
export function requireFewElements(what: string, text: string, maxElements: number, cause?: unknown): void {
  if (text.length <= maxElements / 2) return;
  const excess = findJsonExcess(Buffer.from(text), maxElements);
  if (excess === undefined) return;
  const place = `found more in ${JSON.stringify(excess.where)}`;
  if (excess.of === 'levels')
    throw invalidArgument(
      `${what}: expected objects and lists nested at most ${maxMessageDepth} levels deep, ${place}`,
      cause,
    );
  throw resourceExhausted(
    `${what}: expected at most ${maxElements} fields and elements (a separator or bracket counts two), ${place}`,
    cause,
  );
}
