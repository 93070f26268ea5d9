/** A document for users who may read configurations but no secrets (D6): anything that looks like a secret is masked. */
import type { Json } from './schema.ts';

export const mask = '********';

const secretKey =
  /secret|password|passwd|passphrase|token|credential|private[_-]?key|api[_-]?key|access[_-]?key|auth[_-]?key|^key$/i;
/** `//user:password@host`. Matches from slash to slash, and so takes linear time. */
const password = /(\/\/[^\s/:@]*):[^\s/@]*@/g;

/**
 * The same value with secrets masked: every text and number, at any depth, under a key that looks secret or in the keys of an auth handler,
 * and the password in a URL.
 *
 * @param at keys that lead to the value, without list positions.
 */
export function maskSecrets(value: Json, at: readonly string[] = []): Json {
  if (typeof value === 'string') {
    if (value === '') return value;
    return isSecretPath(at) ? mask : value.replace(password, `$1:${mask}@`);
  }
  if (typeof value === 'number') return isSecretPath(at) ? mask : value;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, at));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskSecrets(item, [...at, key])]));
}

/** @param path keys only, without list positions. */
export function isSecretPath(path: readonly string[]): boolean {
  const [section, list, config, entry] = path;
  if (section === 'auth' && list === 'handlers' && config === 'config' && entry !== undefined && entry !== 'keys')
    return true;
  return path.some(
    (key, index) => secretKey.test(key) || (key === 'uri' && path[index - 1] === 'docdb_capture_config'),
  );
}
