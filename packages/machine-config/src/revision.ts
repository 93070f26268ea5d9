import { createHash } from 'node:crypto';
import type { MachineConfig } from './schema.ts';

/** The revision of an effective configuration (D10): a hash that the order of keys does not change. 32 hexadecimal digits. */
export function revisionOf(config: MachineConfig): string {
  return createHash('sha256').update(canonicalJson(config)).digest('hex').slice(0, 32);
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}
