import type { DiskFaults } from '@platform/testkit';
import { pauseMs } from '../crash/cloud-under-load.ts';
import type { FaultCase } from './fault-cases.ts';

/**
 * Lets the disk fail once, or for some time.
 *
 * @param faultMs a fault that lasts ends after this; one that hits nothing is given up. @returns how many calls were affected
 */
export async function strike(disk: DiskFaults, { fault, isOnce }: FaultCase, faultMs: number): Promise<number> {
  disk.set([fault]);
  const untilMs = performance.now() + faultMs;
  const isHit = (): boolean => (disk.affected()[0] ?? 0) > 0;
  while (performance.now() < untilMs && !(isOnce && isHit())) await pauseMs(50);
  const [affected = 0] = disk.affected();
  disk.set([]);
  return affected;
}
