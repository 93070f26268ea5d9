/** The two query methods of DataService on the wire. */
import { PlatformError } from '@platform/base';
import type { DataService, TabularDataByMQLRequest } from '@platform/proto/platform/app/data/v1/data';
import type { Plan } from '@platform/query';
import { noticesOf, parseMql } from '@platform/query/mql';
import { clauseWords, parseSql } from '@platform/query/sql';
import type { Call, Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import { batchDocuments } from './batch-documents.ts';
import { downgradeBson, needsDowngrade } from './downgrade-bson.ts';
import { explainRow, wantsExplain } from './explain-row.ts';
import { noticesHeader } from './notices-header.ts';
import type { QueriesDeps } from './queries-deps.ts';
import { querySource } from './query-source.ts';
import { pipelineNamed } from './saved/read-queries.ts';
import { needsSurrogates, withSurrogates } from './surrogate-text.ts';
import { withWireErrors } from './wire-errors.ts';

export function queryHandlers(deps: QueriesDeps): Handlers<typeof DataService, Principal> {
  const { tabular, access, log, clock } = deps;

  const answer = async (
    organizationId: string,
    call: Call<Principal>,
    parse: () => Plan | Promise<Plan>,
    words: () => (pushed: string) => string,
  ): Promise<{ rawData: Uint8Array[] }> => {
    if (organizationId === '')
      throw new PlatformError('invalid_argument', 'organization_id: expected the id of an organization, found none');
    const scope = access.scopeIn(call.principal, organizationId);
    const plan = await parse();
    const deadlineMs = call.deadline === undefined ? undefined : Math.max(1, call.deadline - clock.now());
    const explain = wantsExplain(call.metadata);
    const result = await tabular.query({
      plan,
      explain,
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
    call.responseHeaders.set('platform-scanned-bytes', String(result.scannedBytes));
    call.responseHeaders.set('platform-elapsed-ms', result.elapsedMs.toFixed(3));
    const notices = noticesOf(plan);
    const header = noticesHeader(notices);
    if (header !== undefined) call.responseHeaders.set('platform-notices', header);
    if (explain && result.explain !== undefined) return { rawData: [explainRow(result.explain, words(), notices)] };
    const rows = batchDocuments(result);
    return { rawData: readableRows(rows, call.metadata) };
  };

  return {
    tabularDataByMQL: (request, call) => {
      const source = querySource(request);
      const plan = () => planOf(deps, request, source, call.principal);
      return answer(request.organizationId, call, plan, () => (pushed) => pushed);
    },
    tabularDataBySQL: ({ organizationId, sqlQuery }, call) => {
      const plan = () => withWireErrors(() => parseSql(sqlQuery));
      return answer(organizationId, call, plan, () => clauseWords(sqlQuery));
    },
  };
}

/** The saved query that is named runs first. @throws not_found, and what is wrong with the pipeline */
async function planOf(
  { db, access }: QueriesDeps,
  { organizationId, mqlBinary, queryPrefixName: name = '' }: TabularDataByMQLRequest,
  source: Plan['source'],
  principal: Principal,
): Promise<Plan> {
  if (name === '') return withWireErrors(() => parseMql(mqlBinary, source));
  // Who may not read saved queries is answered as if there were none.
  const mayRead = access.allows(principal, 'organization.read', organizationId);
  const prefix = mayRead ? await pipelineNamed(db, organizationId, name) : undefined;
  if (prefix === undefined)
    throw new PlatformError(
      'not_found',
      `query_prefix_name: expected the name of a saved query of the organization, found ${JSON.stringify(name.slice(0, 200))}`,
    );
  const note = `; stage numbers start at the saved query ${JSON.stringify(name)}, which has ${prefix.length} stages`;
  return withWireErrors(() => parseMql([...prefix, ...mqlBinary], source), note);
}

/** What the caller's BSON reader can read (D7). */
function readableRows(rows: Uint8Array[], metadata: Headers): Uint8Array[] {
  if (!needsDowngrade(metadata)) return rows;
  const plain = rows.map(downgradeBson);
  return needsSurrogates(metadata) ? plain.map(withSurrogates) : plain;
}
