/** Validates optional one-line texts other than names: regions, lines of an address. */
import { invalidArgument, invisibleCharacter, visibleText } from '@platform/base';

/**
 * Returns the text, trimmed; it may be empty. Markup is stored unchanged and never interpreted.
 * @throws invalid_argument naming the found value
 */
export function checkedText(text: string, what: string, maxLength: number): string {
  const trimmed = text.trim();
  const unseen = invisibleCharacter(trimmed.slice(0, maxLength));
  if (trimmed.length <= maxLength && unseen === undefined) return trimmed;
  throw invalidArgument(
    `${what}: expected at most ${maxLength} characters without control characters and other invisible characters, found ${unseen === undefined ? '' : `${unseen} in `}${visibleText(trimmed)} (${trimmed.length} characters)`,
  );
}
