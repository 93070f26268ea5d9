/** The time limit of a call over a data channel. */
import { grpcTimeoutMs } from '../../core/grpc-timeout.ts';

/** The longest that Node's timers can hold, 24 days. */
const mostMs = 2 ** 31 - 1;

/**
 * Clients in Go set a field, and those in Rust (Python) a header; zero is no limit.
 *
 * @param fieldMs of RequestHeaders.timeout @param header `grpc-timeout`
 * @returns undefined: there is no limit
 */
export function timeoutIn(fieldMs: number | undefined, header: string | undefined): number | undefined {
  const limits = [fieldMs ?? 0, grpcTimeoutMs(header)].filter((ms) => ms > 0);
  return limits.length === 0 ? undefined : Math.min(...limits, mostMs);
}
