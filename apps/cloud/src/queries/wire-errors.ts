/** A query as a plan, or an error of the wire. */
import { PlatformError } from '@platform/base';
import { QueryError } from '@platform/query';

/**
 * The message of a QueryError names its code, where it is and what to do.
 *
 * @param note is added to it.
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
