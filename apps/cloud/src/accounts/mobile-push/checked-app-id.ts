/** Validates ids of mobile apps. */
import { invalidArgument } from '@platform/base';

/** @throws invalid_argument naming the found value */
export function checkedAppId(appId: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(appId)) return appId;
  throw invalidArgument(
    `app_id: expected 1 to 200 letters, digits, dots, dashes and underscores, found ${JSON.stringify(appId.slice(0, 80))}`,
  );
}
