import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import type { MachineConfig } from './schema.ts';

/** The revision of an effective configuration (D10): a hash that does not depend on the order of keys. 32 hexadecimal digits. */
export function revisionOf(config: MachineConfig): string {
  return createHash('sha256').update(canonicalJson(config)).digest('hex').slice(0, 32);
}
