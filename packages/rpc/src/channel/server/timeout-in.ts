/** The time limit of a call over a data channel. */

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };
/** The longest that Node's timers can hold, 24 days. */
const mostMs = 2 ** 31 - 1;

/**
 * Clients in Go set a field, and those in Rust (Python) a header; zero is no limit.
 *
 * @param fieldMs of RequestHeaders.timeout @param header `grpc-timeout`
 * @returns undefined: there is no limit
 */
export function timeoutIn(fieldMs: number | undefined, header: string | undefined): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header ?? '') ?? [];
  const limits = [fieldMs ?? 0, Number(digits) * (unitMs[unit] ?? 0)].filter((ms) => ms > 0);
  return limits.length === 0 ? undefined : Math.min(...limits, mostMs);
}
