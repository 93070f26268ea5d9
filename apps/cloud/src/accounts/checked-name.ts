/** The rule for names of everything that people name: organizations, locations, machines, parts, keys, fragments. */
import { PlatformError } from '@platform/base';

const maxNameLength = 200;

/** The name, trimmed. Markup is stored as it is and never interpreted. @throws invalid_argument naming what was found */
export function checkedName(name: string, what = 'name'): string {
  const trimmed = name.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (trimmed === '' || trimmed.length > maxNameLength || /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(trimmed)) {
    throw new PlatformError(
      'invalid_argument',
      `${what}: expected 1 to ${maxNameLength} characters without control characters, found ${JSON.stringify(trimmed.slice(0, 80))} (${trimmed.length} characters)`,
    );
  }
  return trimmed;
}
