/** Converts query errors to API errors. */
import { PlatformError } from '@platform/base';
import { QueryError } from '@platform/query';

/**
 * The message of a QueryError contains its code, its position and a remedy.
 *
 * @param note is appended.
 * @throws PlatformError
 */
export function withWireErrors<T>(parse: () => T, note = ''): T {
  try {
    return parse();
  } catch (caught) {
    if (!(caught instanceof QueryError)) throw caught;
    const { code, message } = caught.toPlatformError();
    throw new PlatformError(code, `${message}${note}`, caught);
  }
}
