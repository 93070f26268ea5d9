/** The two query methods of DataService on the wire. */
import { PlatformError } from '@platform/base';
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import { type Plan, parseMql, parseSql, QueryError } from '@platform/query';
import type { Call, Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import { checkSource } from './check-source.ts';
import { downgradeBson, needsDowngrade } from './downgrade-bson.ts';
import type { QueriesDeps } from './queries-deps.ts';
import { rowsOf } from './rows-of.ts';

export function queryHandlers(deps: QueriesDeps): Handlers<typeof DataService, Principal> {
  const { tabular, access, log, clock } = deps;

  const answer = async (
    organizationId: string,
    call: Call<Principal>,
    parse: () => Plan,
  ): Promise<{ rawData: Uint8Array[] }> => {
    if (organizationId === '')
      throw new PlatformError('invalid_argument', 'organization_id: expected the id of an organization, found none');
    const scope = access.scopeIn(call.principal, organizationId);
    const plan = parsed(parse);
    const deadlineMs = call.deadline === undefined ? undefined : Math.max(1, call.deadline - clock.now());
    const result = await tabular.query({
      plan,
      scope,
      vocabulary: call.vocabulary,
      signal: call.signal,
      ...(deadlineMs !== undefined && { deadlineMs }),
    });
    log.debug('query answered', {
      organizationId,
      rows: result.count,
      bytes: result.bytes.length,
      scannedBytes: result.scannedBytes,
    });
    const rows = rowsOf(result);
    return { rawData: needsDowngrade(call.metadata) ? rows.map(downgradeBson) : rows };
  };

  return {
    tabularDataByMQL: (request, call) => {
      checkSource(request);
      return answer(request.organizationId, call, () => parseMql(request.mqlBinary));
    },
    tabularDataBySQL: (request, call) => answer(request.organizationId, call, () => parseSql(request.sqlQuery)),
  };
}

/** The message of a QueryError names its code, where it is and what to do. */
function parsed(parse: () => Plan): Plan {
  try {
    return parse();
  } catch (caught) {
    throw caught instanceof QueryError ? caught.toPlatformError() : caught;
  }
}
