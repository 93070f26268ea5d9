/** The rule for optional one-line texts that are no names: regions, lines of an address. */
import { PlatformError } from '@platform/base';
import { invisibleCharacter, visibleText } from './invisible-character.ts';

/** Trimmed; may be empty. Markup is stored as it is and never interpreted. @throws invalid_argument naming what was found */
export function checkedText(text: string, what: string, maxLength: number): string {
  const trimmed = text.trim();
  const unseen = invisibleCharacter(trimmed.slice(0, maxLength));
  if (trimmed.length <= maxLength && unseen === undefined) return trimmed;
  throw new PlatformError(
    'invalid_argument',
    `${what}: expected at most ${maxLength} characters without control characters and other invisible characters, found ${unseen === undefined ? '' : `${unseen} in `}${visibleText(trimmed)} (${trimmed.length} characters)`,
  );
}
