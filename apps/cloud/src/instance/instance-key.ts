/**
 * The instance key: encrypts the secrets that the wire must give back, finds them by a keyed hash, signs access tokens (D5, D6).
 *
 * One master key of 32 bytes; a separate key for each use is derived from it, so that no use can stand in for another.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { PlatformError } from '@platform/base';
import { writeDurably } from './write-durably.ts';

export interface InstanceKey {
  /** AES-256-GCM: 12 bytes nonce, ciphertext, 16 bytes tag. */
  encrypt(secret: string): Uint8Array;
  decrypt(sealed: Uint8Array): string;
  /** Keyed hash of a secret, 32 bytes; equal secrets have equal hashes under one instance key only. */
  hash(secret: string): Uint8Array;
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

/** Reads the key from `fromEnvironment` (base64 of 32 bytes) or `file`, which is created with mode 0600 when missing. */
export function openInstanceKey(file: string, fromEnvironment: string | undefined): InstanceKey {
  const master =
    fromEnvironment === undefined ? readOrCreate(file) : decodeKey(fromEnvironment, 'PLATFORM_INSTANCE_KEY');
  const derive = (use: string): Buffer => Buffer.from(hkdfSync('sha256', master, '', `platform ${use}`, 32));
  const sealing = derive('seal');
  const hashing = derive('hash');
  const signing = derive('sign');
  const sign = (text: string): Buffer => createHmac('sha256', signing).update(text).digest();
  return {
    encrypt(secret) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce);
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', sealing, sealed.subarray(0, 12));
      decipher.setAuthTag(sealed.subarray(-16));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8');
      } catch (caught) {
        throw new PlatformError(
          'data_loss',
          `a stored secret does not open with the instance key (${file}): the data directory belongs to another instance key`,
          caught,
        );
      }
    },
    hash: (secret) => createHmac('sha256', hashing).update(secret).digest(),
    sign: (text) => sign(text).toString('base64url'),
    verify(text, signature) {
      const expected = sign(text);
      const found = Buffer.from(signature, 'base64url');
      return found.length === expected.length && timingSafeEqual(found, expected);
    },
  };
}

function readOrCreate(file: string): Buffer {
  if (existsSync(file)) return decodeKey(readFileSync(file, 'utf8').trim(), file);
  const key = randomBytes(32);
  writeDurably(file, `${key.toString('base64')}\n`);
  return key;
}

function decodeKey(text: string, where: string): Buffer {
  const key = Buffer.from(text, 'base64');
  if (key.length !== 32) {
    throw new PlatformError(
      'failed_precondition',
      `${where}: expected a key of 32 bytes as base64, found ${key.length} bytes`,
    );
  }
  return key;
}
