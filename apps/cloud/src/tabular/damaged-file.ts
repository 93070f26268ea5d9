/** The error of a query that needs a sealed file which is damaged or missing. */
import { PlatformError } from '@platform/base';

export function damagedFile(
  { file, captureDay }: { readonly file: string; readonly captureDay: string },
  reason: string,
): PlatformError {
  return new PlatformError(
    'data_loss',
    `readings of ${captureDay} cannot be answered: the sealed file ${file} is damaged (${reason}). Ask for other days meanwhile; the host administrator sees it in platform admin status, and mends it with platform admin repair`,
  );
}

export const fileIsMissing = 'it is missing';
