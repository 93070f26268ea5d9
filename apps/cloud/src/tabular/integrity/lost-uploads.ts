/** D33: a query that could need lost uploads is answered with DATA_LOSS until a person accepts the loss. */
import { dataLoss } from '@platform/base';
import type { Scope } from '@platform/query';
import type { LogLoss } from '../../ingest/log/log.ts';
import { positionsText } from '../../ingest/losses/positions-text.ts';
import type { RowFilter } from '../catalog/row-filter.ts';

/**
 * @param organizationOf the organization of a part; undefined: unknown, for example after the part was deleted
 * @throws data_loss naming the positions
 */
export function requireNoneLost(
  losses: readonly LogLoss[],
  { organizationId }: Scope,
  filter: RowFilter,
  organizationOf: (partId: string) => string | undefined,
): void {
  const asked = filter.columns.part_id?.in;
  const mayTouch = ({ lossIn, acceptedMs, parts }: LogLoss): boolean => {
    if (lossIn !== 'readings' || acceptedMs !== null) return false;
    // The capture times are unknown, so a filter by time cannot exclude the loss.
    return (
      parts === null ||
      parts.some(
        (part) =>
          (organizationOf(part) ?? organizationId) === organizationId && (asked === undefined || asked.includes(part)),
      )
    );
  };
  const lost = losses.find(mayTouch);
  if (lost === undefined) return;
  throw dataLoss(
    `acknowledged readings are lost from the ingest log at ${positionsText(lost)}, and this query could need them. Meanwhile, query other parts. The host administrator can see what is lost in platform admin status`,
  );
}
