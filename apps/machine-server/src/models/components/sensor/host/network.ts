import { keyOf, readSystemFile } from './proc.ts';

/** Every interface except loopback. */
export function readNetwork(): Record<string, { received_bytes: number; sent_bytes: number }> {
  const readings: Record<string, { received_bytes: number; sent_bytes: number }> = {};
  for (const line of (readSystemFile('/proc/net/dev') ?? '').split('\n').slice(2)) {
    const colon = line.lastIndexOf(':');
    const name = line.slice(0, colon).trim();
    if (colon < 0 || name === 'lo') continue;
    const fields = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/);
    readings[keyOf(name)] = { received_bytes: Number(fields[0]), sent_bytes: Number(fields[8]) };
  }
  return readings;
}
