/**
 * The instance key: encrypts secrets that must be readable again, finds them by a keyed hash, and signs access tokens (D5, D6).
 *
 * It is one master key of 32 bytes, from which a separate key is derived for each use, so that a key for one use is useless for others. The
 * key can be replaced (rotate-instance-key.ts). During a replacement there are two keys. The metadata, never the file, records which of
 * them protects the data, so that the data can be opened after a crash at any instant.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dataLoss, failedPrecondition } from '@platform/base';
import { writeFileAtomic } from './write-file-atomic.ts';

export interface InstanceKey {
  /** AES-256-GCM: 12 bytes nonce, ciphertext, 16 bytes tag. */
  encrypt(secret: string): Uint8Array;
  decrypt(sealed: Uint8Array): string;
  /** Keyed hash of a secret, 32 bytes; equal secrets have equal hashes only under the same instance key. */
  hash(secret: string): Uint8Array;
  /** The hash under each key that the store may use: two while a key is being replaced, the current one first. */
  hashes(secret: string): readonly Uint8Array[];
  sign(text: string): string;
  /** Also accepts signatures by earlier keys whose tokens are still valid. */
  verify(text: string, signature: string): boolean;
}

/** One master key and the keys derived from it. */
export interface KeyMaterial {
  /** Identifies the key without revealing anything about it: 16 hexadecimal digits. */
  readonly id: string;
  /** Base64, as in the file. */
  readonly text: string;
  readonly sealing: Buffer;
  readonly hashing: Buffer;
  readonly signing: Buffer;
}

/** The current key can be changed in place, so that all holders of the ring keep working. */
export interface KeyRing extends InstanceKey {
  /** The current key. */
  readonly current: KeyMaterial;
  /** All keys that can open sealed values. */
  readonly known: readonly KeyMaterial[];
  /** Whether a value is sealed with the current key. */
  isCurrent(sealed: Uint8Array): boolean;
  /** @param tokenKeys signing keys of earlier master keys whose tokens are still valid. */
  use(current: KeyMaterial, tokenKeys: readonly Buffer[]): void;
  /** From now on, values sealed with this key can be opened. */
  add(key: KeyMaterial): void;
}

/**
 * Reads the key from `fromEnvironment` (base64 of 32 bytes) or `file`, which is created with mode 0600 if missing.
 *
 * @param file contains a line with the key and, while it is being replaced, a second line with the next one.
 * @param nextFromEnvironment the next key, while a key from the environment is being replaced.
 */
export function openInstanceKey(
  file: string,
  fromEnvironment: string | undefined,
  nextFromEnvironment?: string | undefined,
): KeyRing {
  const texts =
    fromEnvironment === undefined
      ? readOrCreate(file).map((text) => keyMaterial(text, file))
      : [
          keyMaterial(fromEnvironment, 'PLATFORM_INSTANCE_KEY'),
          ...(nextFromEnvironment === undefined
            ? []
            : [keyMaterial(nextFromEnvironment, 'PLATFORM_INSTANCE_KEY_NEXT')]),
        ];
  const [first, ...others] = texts;
  if (first === undefined) throw failedPrecondition(`${file}: expected a key, found an empty file`);
  return createKeyRing(first, others, fromEnvironment === undefined ? file : 'PLATFORM_INSTANCE_KEY');
}

/** @param where the source of the key, for error messages. */
export function createKeyRing(first: KeyMaterial, others: readonly KeyMaterial[], where: string): KeyRing {
  let current = first;
  let known = [first, ...others];
  let tokenKeys: readonly Buffer[] = [];
  const hashed = (key: KeyMaterial, secret: string): Buffer =>
    createHmac('sha256', keyObject(key.hashing)).update(secret).digest();
  const sign = (key: Buffer, text: string): Buffer => createHmac('sha256', keyObject(key)).update(text).digest();
  return {
    get current() {
      return current;
    },
    get known() {
      return known;
    },
    encrypt: (secret) => seal(current, secret),
    decrypt(sealed) {
      for (const key of [current, ...known]) {
        const opened = unseal(key, sealed);
        if (opened !== undefined) return opened;
      }
      throw dataLoss(
        `a stored secret cannot be decrypted with the instance key (${where}): the data directory belongs to a different instance key`,
      );
    },
    hash: (secret) => hashed(current, secret),
    hashes: (secret) => [current, ...known.filter(({ id }) => id !== current.id)].map((key) => hashed(key, secret)),
    sign: (text) => sign(current.signing, text).toString('base64url'),
    verify(text, signature) {
      const found = Buffer.from(signature, 'base64url');
      return [current.signing, ...tokenKeys].some((key) => {
        const expected = sign(key, text);
        return found.length === expected.length && timingSafeEqual(found, expected);
      });
    },
    isCurrent: (sealed) => unseal(current, sealed) !== undefined,
    use(key, earlier) {
      current = key;
      tokenKeys = earlier;
      if (!known.some(({ id }) => id === key.id)) known = [...known, key];
    },
    add(key) {
      if (!known.some(({ id }) => id === key.id)) known = [...known, key];
    },
  };
}

const keyObjects = new WeakMap<Buffer, KeyObject>();

/** Every call verifies a token. Creating the key object from bytes each time would cost four times as much as the hash. */
function keyObject(key: Buffer): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, known);
  return known;
}

/** @param text base64 of 32 bytes. @param where for the error text. @throws failed_precondition for anything else. */
export function keyMaterial(text: string, where: string): KeyMaterial {
  const master = Buffer.from(text, 'base64');
  if (master.length !== 32)
    throw failedPrecondition(`${where}: expected a key of 32 bytes as base64, found ${master.length} bytes`);
  const derive = (use: string): Buffer => Buffer.from(hkdfSync('sha256', master, '', `platform ${use}`, 32));
  return {
    id: derive('id').toString('hex').slice(0, 16),
    text: master.toString('base64'),
    sealing: derive('seal'),
    hashing: derive('hash'),
    signing: derive('sign'),
  };
}

export function newKeyMaterial(): KeyMaterial {
  return keyMaterial(randomBytes(32).toString('base64'), 'a new key');
}

/** Writes the keys, the current one first. */
export function writeKeyFile(file: string, keys: readonly KeyMaterial[]): void {
  writeFileAtomic(file, keys.map(({ text }) => `${text}\n`).join(''));
}

function seal(key: KeyMaterial, secret: string): Uint8Array {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key.sealing, nonce);
  return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined if the value was sealed with another key or was changed. */
function unseal(key: KeyMaterial, sealed: Uint8Array): string | undefined {
  if (sealed.length < 28) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key.sealing, sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function readOrCreate(file: string): string[] {
  if (existsSync(file))
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  const key = newKeyMaterial();
  writeKeyFile(file, [key]);
  return [key.text];
}
