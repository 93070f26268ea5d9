/** Records uploads that are missing from the table `readings`. Callers do not wait for it. */
import { errorText, type Log } from '@platform/base';
import type { IngestLog, LogDamage } from '../../ingest/log/log.ts';

export function noteLoss(ingestLog: Pick<IngestLog, 'noteLoss'>, log: Log, damage: LogDamage): void {
  ingestLog
    .noteLoss('readings', damage)
    .catch((caught: unknown) =>
      log.error('a loss could not be recorded', { position: damage.first, error: errorText(caught) }),
    );
}
