/**
 * Validates credentials of the push provider: the JSON of a service account. A wrong file thus fails at upload, not at the first
 * notification. Error messages do not quote its content.
 */
import { createPrivateKey } from 'node:crypto';
import { invalidArgument, type PlatformError } from '@platform/base';

const maxBytes = 16 * 1024;
/** Where the provider exchanges the account's signature for a token; it is never sent to any other address. */
const tokenUris: ReadonlySet<unknown> = new Set([
  undefined,
  'https://oauth2.googleapis.com/token',
  'https://accounts.google.com/o/oauth2/token',
]);

/** Returns the text unchanged. @throws invalid_argument */
export function checkedPushCredentials(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) throw wrong(`at most ${maxBytes} bytes`, `${bytes}`);
  const fields = parsed(text);
  if (fields['type'] !== 'service_account') throw wrong('"type": "service_account"', 'another or no type');
  for (const name of ['project_id', 'client_email', 'private_key'])
    if (typeof fields[name] !== 'string' || fields[name] === '') throw wrong(`a text "${name}"`, 'none');
  if (!tokenUris.has(fields['token_uri'])) throw wrong('the "token_uri" of the push provider', 'another address');
  if (!isRsaKey(String(fields['private_key']))) throw wrong('"private_key" to be an RSA key in PEM', 'something else');
  return text;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // The error is thrown below; the parser's own message quotes the text.
  }
  throw wrong('the JSON of a service account', 'a text that is not a JSON object');
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function wrong(expected: string, found: string): PlatformError {
  return invalidArgument(`config_json: expected ${expected}, found ${found}`);
}
