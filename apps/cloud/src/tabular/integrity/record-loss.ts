/** Records uploads that are missing from the table `readings`. Callers do not wait for it. */
import { errorText, type Log } from '@platform/base';
import type { IngestLog, LogDamage } from '../../ingest/log/log.ts';

export function recordLoss(ingestLog: Pick<IngestLog, 'recordLoss'>, log: Log, damage: LogDamage): void {
  ingestLog
    .recordLoss('readings', damage)
    .catch((caught: unknown) =>
      log.error('a loss could not be recorded', { position: damage.first, error: errorText(caught) }),
    );
}
