import { readFileSync } from 'node:fs';

/** Whether a process runs; a zombie does not. Linux. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
