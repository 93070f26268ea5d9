/** How long a notification may wait so that its recipient gets fewer mails (D45). Pure. */
import type { TriggerEvent } from './event.ts';

/**
 * `now`: never waits: tests, and mails of accounts. `notice`: a status, something that is offline or that fails; never waits for data, and
 * at most a minute for other notices. `data`: about readings and lines of logs; may wait for the next mail that its recipient may get.
 */
export type Urgency = 'now' | 'notice' | 'data';

const aboutData: ReadonlySet<string> = new Set([
  'part_data_ingested',
  'conditional_data_ingested',
  'conditional_logs_ingested',
]);

export function urgencyOf({ type, isTest, change, data }: TriggerEvent): Urgency {
  if (isTest) return 'now';
  // Silence (`absent_for_secs`) is reported by a trigger on data, without any.
  const isSilence = change?.to === 'firing' && data === undefined;
  return aboutData.has(type) && !isSilence ? 'data' : 'notice';
}
