/** D33: a list that could include uploads lost from the ingest log is DATA_LOSS until a person accepts the loss. */
import { dataLoss } from '@platform/base';
import type { Filter } from '@platform/proto/platform/app/data/v1/data';
import type { LogLoss } from '../../ingest/log/log.ts';
import { positionsText } from '../../ingest/losses/positions-text.ts';
import { organizationsIn, type Scopes } from '../scopes.ts';

/**
 * @param organizationOf the organization of a part; undefined: unknown, for example after the part was deleted
 * @throws data_loss naming the positions
 */
export function requireNoneLost(
  losses: readonly LogLoss[],
  scopes: Scopes,
  { partId, organizationIds }: Filter,
  organizationOf: (partId: string) => string | undefined,
): void {
  const seen = organizationsIn(scopes, organizationIds);
  if (seen.length === 0) return;
  const isSeen = (part: string): boolean => {
    if (partId !== '' && partId !== part) return false;
    const organizationId = organizationOf(part);
    return organizationId === undefined || seen.includes(organizationId);
  };
  const lost = losses.find(
    ({ lossIn, acceptedMs, parts }) =>
      lossIn === 'binary data' && acceptedMs === null && (parts === null || parts.some(isSeen)),
  );
  if (lost === undefined) return;
  throw dataLoss(
    `acknowledged uploads are lost from the ingest log at ${positionsText(lost)}, so this list could be incomplete. Meanwhile, request other parts, or files by their ids. The host administrator can see what is lost in platform admin status`,
  );
}
