/** The DataService operations for saved queries. */
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import type { CloudHandlers, Principal } from '../../access/principal.ts';
import type { QueriesDeps } from '../queries-deps.ts';
import { queryMessage, savedQueriesOf, savedQuery } from './read-queries.ts';
import { createSavedQuery, deleteSavedQuery, updateSavedQuery } from './save-query.ts';

export function savedQueryHandlers(deps: QueriesDeps): CloudHandlers<typeof DataService> {
  const { db, access } = deps;
  /** A saved query that the caller may change. */
  const owned = async (principal: Principal, id: string) => {
    const row = await savedQuery(db, access, principal, id);
    access.authorize(principal, 'organization.manage', row.organization_id);
    return row;
  };
  return {
    async createSavedQuery(request, call) {
      access.authorize(call.principal, 'organization.manage', request.organizationId);
      return { id: await createSavedQuery(deps, call, request.organizationId, request) };
    },
    async updateSavedQuery(request, call) {
      await updateSavedQuery(deps, call, await owned(call.principal, request.id), request);
    },
    async deleteSavedQuery({ id }, call) {
      await deleteSavedQuery(deps, call, await owned(call.principal, id));
    },
    async getSavedQuery({ id }, { principal }) {
      return { savedQuery: queryMessage(await savedQuery(db, access, principal, id)) };
    },
    async listSavedQueries({ organizationId, limit }, { principal }) {
      access.authorize(principal, 'organization.read', organizationId);
      return { queries: await savedQueriesOf(db, organizationId, limit) };
    },
  };
}
