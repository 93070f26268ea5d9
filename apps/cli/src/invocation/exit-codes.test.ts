import { asPlatformError, type CodeName, PlatformError } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { exitCodeOf, exitCodes, exitCodesHelp } from './exit-codes.ts';

test('outcomes that scripts must distinguish have different exit codes, and the help lists each', () => {
  const expected: Partial<Record<CodeName, number>> = {
    invalid_argument: 2,
    not_found: 3,
    unauthenticated: 4,
    permission_denied: 4,
    aborted: 5,
    failed_precondition: 5,
    already_exists: 5,
    resource_exhausted: 6,
    deadline_exceeded: 124,
    canceled: 130,
    unavailable: 1,
    internal: 1,
    unimplemented: 1,
  };
  for (const [code, exit] of Object.entries(expected)) expect(exitCodeOf(code as CodeName), code).toBe(exit);
  expect(exitCodeOf(asPlatformError(new TypeError('x')).code)).toBe(1);
  expect(exitCodeOf(new PlatformError('data_loss', 'x').code)).toBe(1);
  for (const code of Object.values(exitCodes)) expect(exitCodesHelp).toMatch(new RegExp(`\\b${code} \\w`));
});
