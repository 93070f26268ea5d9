import type { OutboxAttemptRow } from './store.ts';

/** The words for what came of an attempt. docs/specs/states.md says what makes each true. */
export const outcomeWords: Readonly<Record<OutboxAttemptRow['outcome'], string>> = {
  accepted: 'accepted',
  kept: 'kept',
  rejected: 'rejected',
  retryLater: 'retry-later',
};
