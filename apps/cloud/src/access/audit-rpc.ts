/** The audit trail in the API, for owners of the organization. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import type { Database } from '../metadata/tables.ts';
import { readPageToken } from '../wire/page-token.ts';
import { auditEntries, countAuditEntries } from './audit-entries.ts';
import type { Access } from './authorize.ts';
import type { CloudHandlers } from './principal.ts';

const defaultPage = 100;
const maxPage = 1_000;

export function auditHandlers(deps: {
  readonly db: Database;
  readonly access: Access;
}): CloudHandlers<typeof FleetService> {
  return {
    async listAuditEntries(request, call) {
      deps.access.authorize(call.principal, 'organization.manage', request.organizationId);
      const limit = Math.min(request.pageLimit || defaultPage, maxPage);
      const beforeId = readPageToken(request.pageToken, 'ListAuditEntries');
      const asked = {
        organizationId: request.organizationId,
        targetId: request.targetId === '' ? undefined : request.targetId,
      };
      const [entries, total] = await Promise.all([
        auditEntries(deps.db, { ...asked, limit: limit + 1, beforeId }),
        countAuditEntries(deps.db, asked),
      ]);
      const page = entries.slice(0, limit);
      return {
        entries: page.map((entry) => ({
          id: BigInt(entry.id),
          at: timestampFromMs(entry.at_ms),
          actor: { kind: entry.actor_kind, id: entry.actor_id, name: entry.actor_name },
          action: entry.action,
          targetKind: entry.target_kind,
          targetId: entry.target_id,
          detail: entry.detail,
          peerAddress: entry.peer_address,
        })),
        nextPageToken: entries.length > limit ? String(page.at(-1)?.id ?? '') : '',
        total: BigInt(total),
      };
    },
  };
}
