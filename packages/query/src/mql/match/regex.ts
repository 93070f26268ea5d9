/** Regular expressions in queries: checked when parsed, so that an invalid one is an error even over no rows. */

import { compileRegex } from '../../bson/compile-regex.ts';
import type { Regex } from '../../bson/value.ts';
import { withErrorsAt } from '../../query-error.ts';

export function checkRegex(regex: Regex, at: string): void {
  withErrorsAt({ path: at }, () => compileRegex(regex));
}
