/** Whether a figure was measured on a quiet computer, and processor time of several processes. */
import { readFileSync } from 'node:fs';
import { cpuSeconds, processTree } from '@platform/testkit';

const ticksPerSecond = 100;

/** Starts to measure what other programs use; the result tells how many cores they used on average since then (Linux /proc). */
export function measureOthers(): () => number {
  const [startedMs, before] = [performance.now(), othersSeconds()];
  return () => Math.max(0, ((othersSeconds() - before) / (performance.now() - startedMs)) * 1_000);
}

/** CPU seconds of all programs but this process and its descendants. */
function othersSeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readFileSync('/proc/stat', 'utf8')
    .slice('cpu '.length, 200)
    .trim()
    .split(/\s+/)
    .map(Number);
  const own = secondsOfTree(processTree(process.pid));
  return (user + nice + system + irq + softirq + steal) / ticksPerSecond - own;
}

/** CPU seconds of these processes so far. */
export function secondsOfTree(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + secondsOf(pid), 0);
}

/** 0 for a process that has just ended. */
function secondsOf(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}
