/** Encrypts files with secrets with a passphrase: scrypt, then AES-256-GCM. */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { PlatformError } from '@platform/base';

/** 128 MiB and about half a second for each guess. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/** Contents of the files by name. */
export type SecretFiles = Readonly<Record<string, string>>;

/** Returns JSON that `openSecrets` reads. */
export function sealSecrets(files: SecretFiles, passphrase: string): string {
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', scryptSync(passphrase, salt, 32, cost), nonce);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(files), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  const text = (bytes: Buffer): string => bytes.toString('base64');
  return `${JSON.stringify({ kdf: 'scrypt', ...cost, salt: text(salt), nonce: text(nonce), sealed: text(sealed) })}\n`;
}

/** @throws permission_denied for a wrong passphrase */
export function openSecrets(text: string, passphrase: string): SecretFiles {
  const { salt, nonce, sealed } = JSON.parse(text) as Record<'salt' | 'nonce' | 'sealed', string>;
  const bytes = Buffer.from(sealed, 'base64');
  const key = scryptSync(passphrase, Buffer.from(salt, 'base64'), 32, cost);
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'));
  decipher.setAuthTag(bytes.subarray(-16));
  try {
    const opened = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
    return JSON.parse(opened.toString('utf8'));
  } catch (caught) {
    throw new PlatformError(
      'permission_denied',
      'the instance key in the backup: expected the passphrase that encrypts it, found a different one',
      caught,
    );
  }
}
