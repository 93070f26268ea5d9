/** How deep JSON that users save may be nested: as deep as every public client can read it back. */
import { PlatformError } from '@platform/base';

/**
 * On the wire each level of JSON is three messages (Struct, its entry, Value), and decoders stop at 100: so many levels fit
 * together with the messages around them.
 */
export const maxJsonDepth = 30;

/** @param what it is, for the error. @throws invalid_argument when objects and lists lie deeper in each other. Never recurses. */
export function requireJsonDepth(value: unknown, what: string): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxJsonDepth) {
      throw new PlatformError(
        'invalid_argument',
        `${what}: expected objects and lists at most ${maxJsonDepth} levels deep in each other, found more: public clients could not read it`,
      );
    }
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
}
