import { ago } from '../ui/time.ts';

/** The cloud makes a long list about once a minute while somebody looks at it. */
const currentMs = 120_000;

/** Says that the list of series is not of now, such as because the cloud is busy; empty: it is. @param listed by the clock of the cloud */
export function listAgeText(listed: Date | undefined, nowMs: number): string {
  if (listed === undefined || nowMs - listed.getTime() <= currentMs) return '';
  return `The list is of ${ago(listed, nowMs)}: series whose first reading arrived since then are missing. The values are of now.`;
}
