/** What names and tags may take, in a configuration as in an upload. */

/** Of a name or a tag, in UTF-8. */
export const maxNameBytes = 255;
/** Of one resource, method or upload. */
export const maxTags = 100;

/** What was expected of a name or tag that is too long; undefined when it is not. */
export function lengthFault(text: string): string | undefined {
  const bytes = new TextEncoder().encode(text).length;
  return bytes <= maxNameBytes ? undefined : `expected at most ${maxNameBytes} bytes, found ${bytes}`;
}
