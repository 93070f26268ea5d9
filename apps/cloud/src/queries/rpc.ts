/** The two query methods of DataService on the wire. */
import { PlatformError, systemClock } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { type Plan, parseMql, parseSql, QueryError } from '@platform/query';
import { type Call, type ServiceBinding, serve } from '@platform/rpc/server';
import { checkSource } from './check-source.ts';
import { downgradeBson, needsDowngrade } from './downgrade-bson.ts';
import type { QueriesOptions } from './feature.ts';
import { rowsOf } from './rows-of.ts';

export function queriesBinding<P>(options: QueriesOptions<P>): ServiceBinding<P> {
  const { tabular, scopeOf, log, clock = systemClock } = options;

  const answer = async (
    organizationId: string,
    call: Call<P>,
    parse: () => Plan,
  ): Promise<{ rawData: Uint8Array[] }> => {
    if (organizationId === '')
      throw new PlatformError('invalid_argument', 'organization_id: expected the id of an organization, found none');
    const scope = await scopeOf(call.principal, organizationId);
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

  return serve<typeof DataService, P>(DataService, {
    tabularDataByMQL: (request, call) => {
      checkSource(request);
      return answer(request.organizationId, call, () => parseMql(request.mqlBinary));
    },
    tabularDataBySQL: (request, call) => answer(request.organizationId, call, () => parseSql(request.sqlQuery)),
  });
}

/** The message of a QueryError names its code, where it is and what to do. */
function parsed(parse: () => Plan): Plan {
  try {
    return parse();
  } catch (caught) {
    throw caught instanceof QueryError ? caught.toPlatformError() : caught;
  }
}
