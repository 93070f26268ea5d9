import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The secret of the part that a first start registers. */
export function partSecretOf(dataDir: string): string {
  const { partSecret } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as { partSecret: string };
  return partSecret;
}
