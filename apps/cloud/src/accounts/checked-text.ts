/** The rule for optional one-line texts that are no names: regions, lines of an address. */
import { PlatformError } from '@platform/base';

/** Trimmed; may be empty. Markup is stored as it is and never interpreted. @throws invalid_argument naming what was found */
export function checkedText(text: string, what: string, maxLength: number): string {
  const trimmed = text.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (trimmed.length <= maxLength && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(trimmed)) return trimmed;
  throw new PlatformError(
    'invalid_argument',
    `${what}: expected at most ${maxLength} characters without control characters, found ${JSON.stringify(trimmed.slice(0, 80))} (${trimmed.length} characters)`,
  );
}
