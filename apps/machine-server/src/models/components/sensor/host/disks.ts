import { statfsSync, statSync } from 'node:fs';
import { keyOf, readSystemFile, rounded } from './proc.ts';

const most = 8;

/** Mount points of the root and of every disk, one for each device. */
export function findVolumes(): string[] {
  const volumes = ['/'];
  const devices = new Set<string>();
  for (const line of (readSystemFile('/proc/mounts') ?? '').split('\n')) {
    const [device = '', point = ''] = line.split(' ');
    if (!device.startsWith('/dev/') || /^\/(boot|snap|etc)\b/.test(point) || devices.has(device)) continue;
    devices.add(device);
    if (!volumes.includes(point) && volumes.length < most && isDirectory(point)) volumes.push(point);
  }
  return volumes;
}

export function readVolumes(points: readonly string[]): Record<string, Record<string, number>> {
  const readings: Record<string, Record<string, number>> = {};
  for (const point of points) {
    try {
      const { bsize, blocks, bavail } = statfsSync(point);
      if (blocks === 0) continue;
      const used = (blocks - bavail) * bsize;
      readings[keyOf(point)] = {
        total_bytes: blocks * bsize,
        used_bytes: used,
        used_percent: rounded((100 * used) / (blocks * bsize)),
      };
    } catch {
      // Unmounted meanwhile; omitted from this reading.
    }
  }
  return readings;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
