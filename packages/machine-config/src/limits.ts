/** Limits of configurations, and of names and tags in configurations and uploads. */
import { invisibleCharacter, visibleText } from '@platform/base';

/** Maximum size of a configuration that the cloud keeps, as JSON in UTF-8: every machine reads its whole configuration at every change. */
export const maxDocumentBytes: number = 4 * 1024 * 1024;

/** Maximum length of a name or a tag, in UTF-8. */
export const maxNameBytes = 255;
/** Maximum number of tags of one resource, method or upload. */
export const maxTags = 100;

/** What was expected of a name or tag that is too long; undefined if it is short enough. */
export function lengthFault(text: string): string | undefined {
  const bytes = new TextEncoder().encode(text).length;
  return bytes <= maxNameBytes ? undefined : `expected at most ${maxNameBytes} bytes, found ${bytes}`;
}

/** What was expected of a name with invisible characters, such as one that reverses the text after it; undefined if it has none. */
export function unseenFault(name: string): string | undefined {
  const unseen = invisibleCharacter(name);
  return unseen === undefined
    ? undefined
    : `expected a name without control characters and other invisible characters, found ${unseen} in ${visibleText(name)}`;
}

/**
 * Of a document as text; a separator or bracket counts two. A machine-server reads a configuration of about as many as a message.
 */
export const maxDocumentElements: number = 200_000;
