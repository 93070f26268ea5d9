/** Which cases cannot be asked of this engine, and why. They are counted, never hidden. */

import type { Case } from './case.ts';

/** The reason, or `undefined` for a case that counts. */
export function exclusionOf(given: Case): string | undefined {
  if (given.k === 'mql' && given.options.length > 0) {
    return `the option ${given.options.join(', ')} is not on the wire`;
  }
  return undefined;
}
