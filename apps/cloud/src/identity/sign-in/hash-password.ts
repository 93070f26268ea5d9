/** Passwords as argon2id (D30), encoded in the PHC format with their parameters, so that these can be raised later. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createLimiter, dataLoss, invalidArgument, resourceExhausted } from '@platform/base';

const minPasswordLength = 10;
const maxPasswordBytes = 1_024;
const current: Parameters = { memoryKib: 19_456, passes: 2, lanes: 1 };
const saltBytes = 16;
const tagBytes = 32;
/** Disk access also needs Node's thread pool, which has four threads. */
const maxHashing = 2;
const maxWaiting = 100;

interface Parameters {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

const run = promisify(argon2);
const limited = createLimiter(maxHashing);
let waiting = 0;

/** @throws invalid_argument if it is too short or too long. The error never contains the password. */
export function checkedPassword(password: string): string {
  const length = [...password].length;
  if (length < minPasswordLength)
    throw invalidArgument(`password: expected at least ${minPasswordLength} characters, found ${length}`);
  if (Buffer.byteLength(password) > maxPasswordBytes)
    throw invalidArgument(`password: expected at most ${maxPasswordBytes} bytes, found more`);
  return password;
}

/**
 * Returns `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. Runs on Node's thread pool.
 * @throws resource_exhausted if too many are waiting
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const { memoryKib, passes, lanes } = current;
  const tag = await derive(password, salt, current, tagBytes);
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${base64(salt)}$${base64(tag)}`;
}

export interface PasswordCheck {
  readonly right: boolean;
  /** The stored hash has older parameters: store a new one while the password is available. */
  readonly stale: boolean;
}

/** @param stored absent: the person or the password does not exist; the check takes as long as for a wrong one. */
export async function checkPassword(password: string, stored: string | undefined): Promise<PasswordCheck> {
  const parsed = parse(stored ?? nobody);
  // Longer than any password can be: refused without hashing, for known and unknown people alike.
  if (Buffer.byteLength(password) > maxPasswordBytes) return { right: false, stale: false };
  const tag = await derive(password, parsed.salt, parsed, parsed.tag.length);
  const right = timingSafeEqual(tag, parsed.tag) && stored !== undefined;
  const stale =
    parsed.memoryKib !== current.memoryKib || parsed.passes !== current.passes || parsed.lanes !== current.lanes;
  return { right, stale: right && stale };
}

async function derive(password: string, salt: Buffer, parameters: Parameters, length: number): Promise<Buffer> {
  if (waiting >= maxWaiting)
    throw resourceExhausted('sign-in: too many people are signing in right now; try again soon');
  waiting++;
  try {
    return await limited(() =>
      run('argon2id', {
        message: password.normalize('NFKC'),
        nonce: salt,
        parallelism: parameters.lanes,
        tagLength: length,
        memory: parameters.memoryKib,
        passes: parameters.passes,
      }),
    );
  } finally {
    waiting--;
  }
}

/** Matches no password: used for the comparison if there is no stored hash. */
const nobody = `$argon2id$v=19$m=${current.memoryKib},t=${current.passes},p=${current.lanes}$${base64(Buffer.alloc(saltBytes))}$${base64(Buffer.alloc(tagBytes))}`;

function parse(encoded: string): Parameters & { salt: Buffer; tag: Buffer } {
  const found = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(encoded);
  if (found === null) throw dataLoss('a stored password hash is not of the form $argon2id$v=19$m=…,t=…,p=…$…$…');
  const [, memory, passes, lanes, salt = '', tag = ''] = found;
  return {
    memoryKib: Number(memory),
    passes: Number(passes),
    lanes: Number(lanes),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
