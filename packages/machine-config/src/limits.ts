/** Limits of names and tags, in configurations and uploads. */

/** Maximum length of a name or a tag, in UTF-8. */
export const maxNameBytes = 255;
/** Maximum number of tags of one resource, method or upload. */
export const maxTags = 100;

/** What was expected of a name or tag that is too long; undefined if it is short enough. */
export function lengthFault(text: string): string | undefined {
  const bytes = new TextEncoder().encode(text).length;
  return bytes <= maxNameBytes ? undefined : `expected at most ${maxNameBytes} bytes, found ${bytes}`;
}
