/**
 * Why a call is refused, by gRPC status: `throw notFound('part p1 does not exist')`.
 *
 * @param message expected, found, where. @param cause what was caught, kept for logs only.
 */
import { type CodeName, PlatformError } from './errors.ts';

type Refusal = (message: string, cause?: unknown) => PlatformError;

function refusal(code: CodeName): Refusal {
  return (message, cause) => new PlatformError(code, message, cause);
}

export const aborted: Refusal = refusal('aborted');
export const alreadyExists: Refusal = refusal('already_exists');
export const dataLoss: Refusal = refusal('data_loss');
export const deadlineExceeded: Refusal = refusal('deadline_exceeded');
export const failedPrecondition: Refusal = refusal('failed_precondition');
export const invalidArgument: Refusal = refusal('invalid_argument');
export const notFound: Refusal = refusal('not_found');
export const permissionDenied: Refusal = refusal('permission_denied');
export const resourceExhausted: Refusal = refusal('resource_exhausted');
export const unauthenticated: Refusal = refusal('unauthenticated');
export const unavailable: Refusal = refusal('unavailable');
export const unimplemented: Refusal = refusal('unimplemented');
