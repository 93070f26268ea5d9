import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const base = fileURLToPath(new URL('../../../.platform', import.meta.url));
const tmpfsType = 0x01021994;

/** A new folder on disk, removed when disposed. Memory file systems are refused: their sync costs nothing. */
export function scratch(): { readonly path: string } & Disposable {
  mkdirSync(base, { recursive: true });
  if (statfsSync(base).type === tmpfsType) throw new Error(`${base} lies in memory; benches need a disk`);
  const path = mkdtempSync(join(base, 'bench-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}
