/** What each part of an organization may log, as the host administrator set it; a change holds from the next line on. */
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
