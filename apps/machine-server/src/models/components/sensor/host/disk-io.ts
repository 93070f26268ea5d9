import { keyOf, readSystemFile } from './proc.ts';

/** Sectors of /proc/diskstats are 512 bytes, whatever the disk. */
const sectorBytes = 512;

/** Whole disks with any activity; no partitions, no loop or RAM devices. */
export function readDiskIo(): Record<string, { read_bytes: number; written_bytes: number }> {
  const readings: Record<string, { read_bytes: number; written_bytes: number }> = {};
  for (const line of (readSystemFile('/proc/diskstats') ?? '').split('\n')) {
    const fields = line.trim().split(/\s+/);
    const name = fields[2];
    if (name === undefined || !/^([shv]d[a-z]+|xvd[a-z]+|nvme\d+n\d+|mmcblk\d+|dm-\d+|md\d+)$/.test(name)) continue;
    const [read, written] = [Number(fields[5]) * sectorBytes, Number(fields[9]) * sectorBytes];
    if (read + written > 0) readings[keyOf(name)] = { read_bytes: read, written_bytes: written };
  }
  return readings;
}
