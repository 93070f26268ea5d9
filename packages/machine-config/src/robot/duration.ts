/** Durations in a document, such as `30s`, `1m30s`, `1.5h`, `250ms`; internally, whole nanoseconds. */

const unitNanos: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/** Nanoseconds; undefined for a text that is not a duration, or a negative one. */
export function durationNanos(text: string): bigint | undefined {
  if (text === '0') return 0n;
  if (!/^(\d+(\.\d{1,12})?(ns|us|µs|ms|s|m|h)){1,8}$/.test(text)) return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(/(\d+)(?:\.(\d+))?(ns|us|µs|ms|s|m|h)/g)) {
    const nanos = BigInt(unitNanos[unit] ?? 0);
    total += BigInt(whole) * nanos + (BigInt(fraction || '0') * nanos) / 10n ** BigInt(fraction.length);
  }
  return total;
}

/** The shortest text with hours, minutes and seconds, or with milliseconds below one second. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  if (nanos < 1_000_000_000n) return `${decimal(nanos, 6)}ms`;
  const minutes = nanos / 60_000_000_000n;
  const rest = nanos % 60_000_000_000n;
  const parts = [
    minutes >= 60n ? `${minutes / 60n}h` : '',
    minutes % 60n > 0n ? `${minutes % 60n}m` : '',
    rest > 0n ? `${decimal(rest, 9)}s` : '',
  ];
  return parts.join('');
}

/** `value` with its point moved `digits` to the left. */
function decimal(value: bigint, digits: number): string {
  const text = String(value).padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return `${text.slice(0, -digits)}${fraction === '' ? '' : `.${fraction}`}`;
}
