import { cpus } from 'node:os';
import { readSystemFile, rounded } from './proc.ts';

interface Times {
  readonly busy: number;
  readonly total: number;
}

export interface CpuReading {
  readonly cpu_percent: number;
  readonly cpu_percent_per_core: readonly number[];
}

/** Measures from one call to the next; the first call measures since the meter was created. */
export function createCpuMeter(): () => CpuReading {
  let last = readTimes();
  return () => {
    const now = readTimes();
    const percents = now.map((times, core) => {
      const before = last[core] ?? { busy: 0, total: 0 };
      const total = times.total - before.total;
      return total > 0 ? (100 * Math.max(0, times.busy - before.busy)) / total : 0;
    });
    // Counters advance every 10 ms; after a shorter time there is nothing to measure, so the older start is kept.
    if (now.some((times, core) => times.total > (last[core]?.total ?? 0) + 1)) last = now;
    const mean = percents.length === 0 ? 0 : percents.reduce((sum, percent) => sum + percent, 0) / percents.length;
    return { cpu_percent: rounded(mean), cpu_percent_per_core: percents.map(rounded) };
  };
}

function readTimes(): Times[] {
  const stat = readSystemFile('/proc/stat');
  if (stat === undefined) {
    return cpus().map(({ times }) => {
      const busy = times.user + times.nice + times.sys + times.irq;
      return { busy, total: busy + times.idle };
    });
  }
  const cores: Times[] = [];
  for (const line of stat.split('\n')) {
    if (!/^cpu\d/.test(line)) continue;
    // user nice system idle iowait irq softirq steal; guest time is part of user.
    const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = line
      .split(/\s+/)
      .slice(1)
      .map(Number);
    const busy = user + nice + system + irq + softirq + steal;
    cores.push({ busy, total: busy + idle + iowait });
  }
  return cores;
}
