/** Identifiers and secrets. */
import { randomBytes, randomUUID } from 'node:crypto';

/** A random UUID: organizations, machines, parts, keys (public clients insist that a key id is one). */
export function newId(): string {
  return randomUUID();
}

/** A short id of ten lower-case letters and digits: locations, as public clients know them. */
export function newShortId(): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
  let id = '';
  while (id.length < 10) {
    for (const byte of randomBytes(16)) {
      if (byte < 252 && id.length < 10) id += alphabet[byte % 36];
    }
  }
  return id;
}

/** A secret of 32 random bytes as URL-safe text. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
