import { freemem, totalmem } from 'node:os';
import { readSystemFile, rounded } from './proc.ts';

/** Used memory is the memory of programs, without caches that the system can reclaim. */
export function readMemory(): Record<string, number> {
  const info = readSystemFile('/proc/meminfo') ?? '';
  const bytesOf = (key: string): number | undefined => {
    const found = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(info)?.[1];
    return found === undefined ? undefined : Number(found) * 1_024;
  };
  const total = bytesOf('MemTotal') ?? totalmem();
  const used = total - (bytesOf('MemAvailable') ?? freemem());
  const readings: Record<string, number> = {
    memory_total_bytes: total,
    memory_used_bytes: used,
    memory_used_percent: rounded((100 * used) / total),
  };
  const swapTotal = bytesOf('SwapTotal');
  if (swapTotal !== undefined) {
    readings['swap_total_bytes'] = swapTotal;
    readings['swap_used_bytes'] = swapTotal - (bytesOf('SwapFree') ?? swapTotal);
  }
  return readings;
}
