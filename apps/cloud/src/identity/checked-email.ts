/** The rule for e-mail addresses of people: one spelling for each, and nothing that a mail header could be broken with. */
import { PlatformError } from '@platform/base';

const maxEmailLength = 254;
/** Dots, letters and digits of any script, and the signs that mailboxes use; no quotes, comments or lists. */
const mailbox = /^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u;

/** Trimmed, in lower case. @throws invalid_argument saying what was found */
export function checkedEmail(email: string, what = 'email'): string {
  const normal = normalEmail(email);
  if (normal.length <= maxEmailLength && mailbox.test(normal) && !normal.includes('..')) return normal;
  throw new PlatformError(
    'invalid_argument',
    `${what}: expected one address such as name@example.com, at most ${maxEmailLength} characters, found ${JSON.stringify(normal.slice(0, 80))}`,
  );
}

/** For looking up: what is no address finds nobody. */
export function normalEmail(email: string): string {
  return email
    .slice(0, 4 * maxEmailLength)
    .trim()
    .normalize('NFC')
    .toLowerCase();
}
