/** Validates e-mail addresses of people: gives each a single form, and refuses anything that could break a mail header. */
import { invalidArgument } from '@platform/base';

const maxEmailLength = 254;
/** Dots, letters and digits of any script, and the symbols used in mailbox names; no quotes, comments or lists. */
const mailbox = /^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u;

/** Trimmed, in lower case. @throws invalid_argument naming the found value */
export function checkedEmail(email: string, what = 'email'): string {
  const normal = normalEmail(email);
  const lookalike = lookalikeIn(normal);
  const isMailbox = normal.length <= maxEmailLength && mailbox.test(normal) && !normal.includes('..');
  if (isMailbox && lookalike === undefined) return normal;
  throw invalidArgument(
    `${what}: expected one address such as name@example.com, at most ${maxEmailLength} characters, found ${isMailbox ? `${lookalike} in ` : ''}${JSON.stringify(normal.slice(0, 80))}`,
  );
}

/** For lookups: a text that is not an address matches no one. */
export function normalEmail(email: string): string {
  const trimmed = email.slice(0, 4 * maxEmailLength).trim();
  // NFC and lower case would turn it into someone else's address.
  return lookalikeIn(trimmed) === undefined ? trimmed.normalize('NFC').toLowerCase() : trimmed;
}

/**
 * The first character that stands for another one (NFKC), as the KELVIN SIGN does for K: two addresses that a mail server may distinguish
 * would be one person here.
 */
function lookalikeIn(text: string): string | undefined {
  for (const character of text) {
    const plain = character.normalize('NFKC');
    if (plain === character) continue;
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    return `U+${code}, which stands for ${JSON.stringify(plain)},`;
  }
  return undefined;
}
