import { readFileSync } from 'node:fs';

/** Where the system does not tell: the usual soft limit, which Node raises. */
const assumed = 1_024;

/** How many files and connections this process may have open at once. Node raises the soft limit to the hard one at its start. */
export function descriptorLimit(): number {
  try {
    const [, soft = ''] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return Number(soft) || assumed;
  } catch {
    return assumed;
  }
}
