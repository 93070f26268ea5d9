/** Encrypts files with secrets with a passphrase: scrypt, then AES-256-GCM. */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { dataLoss, permissionDenied } from '@platform/base';

/** Of a guess. It is not read from the file, which could name one that fills the memory. */
export interface GuessCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly maxmem: number;
}

/** 128 MiB and about half a second. */
const usualCost: GuessCost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/** Contents of the files by name. */
export type SecretFiles = Readonly<Record<string, string>>;

/** Returns JSON that `openSecrets` reads. */
export function sealSecrets(files: SecretFiles, passphrase: string, cost: GuessCost = usualCost): string {
  const salt = randomBytes(16);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', scryptSync(passphrase, salt, 32, cost), nonce);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(files), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  const text = (bytes: Buffer): string => bytes.toString('base64');
  return `${JSON.stringify({ kdf: 'scrypt', ...cost, salt: text(salt), nonce: text(nonce), sealed: text(sealed) })}\n`;
}

/** @param text as it was written @throws permission_denied for a wrong passphrase; data_loss for another text */
export function openSecrets(text: string, passphrase: string, cost: GuessCost = usualCost): SecretFiles {
  const { salt, nonce, bytes } = readSealed(text);
  const key = scryptSync(passphrase, salt, 32, cost);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce);
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    const opened = Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]);
    return JSON.parse(opened.toString('utf8'));
  } catch (caught) {
    throw permissionDenied(
      'the instance key in the backup: expected the passphrase that encrypts it, found a different one',
      caught,
    );
  }
}

const [nonceBytes, tagBytes] = [12, 16];

function readSealed(text: string): { readonly salt: Buffer; readonly nonce: Buffer; readonly bytes: Buffer } {
  try {
    const { salt, nonce, sealed } = JSON.parse(text) as Record<'salt' | 'nonce' | 'sealed', string>;
    const read = {
      salt: Buffer.from(salt, 'base64'),
      nonce: Buffer.from(nonce, 'base64'),
      bytes: Buffer.from(sealed, 'base64'),
    };
    if (read.nonce.length === nonceBytes && read.bytes.length > tagBytes) return read;
  } catch {
    // It is no JSON, or lacks a field.
  }
  throw dataLoss(
    `the instance key in the backup: expected JSON with salt, nonce and sealed, found ${JSON.stringify(text.slice(0, 60))}`,
  );
}
