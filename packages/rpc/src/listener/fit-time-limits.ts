/** The longest time limit that Node's timers can hold, 24 days. Longer ones would fire at once. */
const mostMs = 2 ** 31 - 1;
const mostSeconds = Math.floor(mostMs / 1_000);
const unitSeconds: Readonly<Record<string, number>> = { H: 3_600, M: 60, S: 1 };

/** Shortens the time limit of a call, which clients without one may set to years, to what a timer can hold. */
export function fitTimeLimits(headers: Headers): void {
  const [, digits, unit = ''] = /^(\d{1,8})([HMS])$/.exec(headers.get('grpc-timeout') ?? '') ?? [];
  if (Number(digits ?? 0) * (unitSeconds[unit] ?? 0) > mostSeconds) headers.set('grpc-timeout', `${mostSeconds}S`);
  const connect = headers.get('connect-timeout-ms') ?? '';
  if (/^\d{1,10}$/.test(connect) && Number(connect) > mostMs) headers.set('connect-timeout-ms', String(mostMs));
}

/** A call whose messages have checksums gives a valid limit, so another was damaged on the way. It is no fault of the request. */
export function dropDamagedTimeLimit(headers: Headers): void {
  if (!/^\d{1,8}[HMSmun]$/.test(headers.get('grpc-timeout') ?? '1S')) headers.delete('grpc-timeout');
}
