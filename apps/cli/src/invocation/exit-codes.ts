/** Exit codes of every command, documented in its help. */
import type { CodeName } from '@platform/sdk/cloud';

export const exitCodes = {
  ok: 0,
  error: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  conflict: 5,
  limit: 6,
  timeout: 124,
  interrupted: 130,
} as const;

export const exitCodesHelp = `Exit codes:
  0 ok · 1 error · 2 usage · 3 not found · 4 not signed in or not allowed
  5 conflict (stale configuration, in use) · 6 quota or limit
  124 timeout · 130 interrupted`;

const ofCode: Readonly<Partial<Record<CodeName, number>>> = {
  invalid_argument: exitCodes.usage,
  out_of_range: exitCodes.usage,
  not_found: exitCodes.notFound,
  unauthenticated: exitCodes.auth,
  permission_denied: exitCodes.auth,
  aborted: exitCodes.conflict,
  already_exists: exitCodes.conflict,
  failed_precondition: exitCodes.conflict,
  resource_exhausted: exitCodes.limit,
  deadline_exceeded: exitCodes.timeout,
  canceled: exitCodes.interrupted,
};

export function exitCodeOf(code: CodeName): number {
  return ofCode[code] ?? exitCodes.error;
}
