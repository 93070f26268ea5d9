/** How much each part of an organization may log, as set by the host administrator; a change applies from the next line. */
import { bytesPerMinute } from '../machines/logs/limits.ts';
import type { Allowance } from '../machines/logs/quota.ts';
import type { Limits } from './limits.ts';

export function machineLogAllowance(limits: Pick<Limits, 'limitOf'>, organizationId: string): Allowance {
  return {
    get linesPerMinute() {
      return limits.limitOf(organizationId, 'machine-log-lines-per-minute');
    },
    bytesPerMinute,
    get bytesPerDay() {
      return limits.limitOf(organizationId, 'machine-log-bytes-per-day');
    },
  };
}
