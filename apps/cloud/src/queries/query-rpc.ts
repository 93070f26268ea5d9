/** The two query methods of DataService. */
import { invalidArgument, notFound, unimplemented } from '@platform/base';
import {
  type DataService,
  type TabularDataByMQLRequest,
  TabularDataSourceType,
} from '@platform/proto/platform/app/data/v1/data';
import type { Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { clauseWords, parseSql } from '@platform/query/sql';
import type { CloudCall, CloudHandlers, Principal } from '../access/principal.ts';
import { documentsIn } from '../tabular/arrivals/documents-in.ts';
import { answerHeaders } from './answer-headers.ts';
import { answerQuery } from './answer-query.ts';
import { downgradeBson, needsDowngrade } from './downgrade-bson.ts';
import { explainRow, wantsExplain } from './explain-row.ts';
import type { QueriesDeps } from './queries-deps.ts';
import { pipelineNamed } from './saved/read-queries.ts';
import { needsSurrogates, withSurrogates } from './surrogate-text.ts';
import { withWireErrors } from './wire-errors.ts';

export function queryHandlers(deps: QueriesDeps): CloudHandlers<typeof DataService> {
  const { clock } = deps;

  const answer = async (
    organizationId: string,
    call: CloudCall,
    parse: () => Plan | Promise<Plan>,
    words: () => (pushed: string) => string,
  ): Promise<{ rawData: Uint8Array[] }> => {
    const { principal, vocabulary, signal, deadline } = call;
    const explain = wantsExplain(call.metadata);
    const { result, notices } = await answerQuery(deps, {
      ...{ organizationId, principal, parse, vocabulary, signal, explain },
      ...(deadline !== undefined && { deadlineMs: Math.max(1, deadline - clock.now()) }),
    });
    for (const [name, value] of answerHeaders(result, notices)) call.responseHeaders.set(name, value);
    if (explain && result.explain !== undefined) return { rawData: [explainRow(result.explain, words(), notices)] };
    return { rawData: readableRows(documentsIn(result), call.metadata) };
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

/** Plans the pipeline; a named saved query runs first. @throws not_found, and what is wrong with the pipeline */
async function planOf(
  { db, access }: QueriesDeps,
  { organizationId, mqlBinary, queryPrefixName: name = '' }: TabularDataByMQLRequest,
  source: Plan['source'],
  principal: Principal,
): Promise<Plan> {
  if (name === '') return withWireErrors(() => parseMql(mqlBinary, source));
  // A caller who may not read saved queries is answered as if there were none.
  const mayRead = access.allows(principal, 'organization.read', organizationId);
  const prefix = mayRead ? await pipelineNamed(db, organizationId, name) : undefined;
  if (prefix === undefined)
    throw notFound(
      `query_prefix_name: expected the name of a saved query of the organization, found ${JSON.stringify(name.slice(0, 200))}`,
    );
  const note = `; stage numbers start at the saved query ${JSON.stringify(name)}, which has ${prefix.length} stages`;
  return withWireErrors(() => parseMql([...prefix, ...mqlBinary], source), note);
}

/** The rows in a form that the caller's BSON reader supports (D7). */
function readableRows(rows: Uint8Array[], metadata: Headers): Uint8Array[] {
  if (!needsDowngrade(metadata)) return rows;
  const plain = rows.map(downgradeBson);
  return needsSurrogates(metadata) ? plain.map(withSurrogates) : plain;
}

/** The source for the plan; an unsupported one is refused instead of being replaced by another. @throws invalid_argument, unimplemented */
function querySource({ useRecentData, dataSource }: TabularDataByMQLRequest): 'readings' | 'hot' {
  const supported =
    'the standard data source (TABULAR_DATA_SOURCE_TYPE_STANDARD, or none) and hot storage (TABULAR_DATA_SOURCE_TYPE_HOT_STORAGE) are supported';
  // Clients older than data sources set only useRecentData.
  switch (dataSource?.type ?? (useRecentData ? TabularDataSourceType.HOT_STORAGE : TabularDataSourceType.STANDARD)) {
    case TabularDataSourceType.UNSPECIFIED:
    case TabularDataSourceType.STANDARD:
      return 'readings';
    case TabularDataSourceType.HOT_STORAGE:
      return 'hot';
    case TabularDataSourceType.PIPELINE_SINK:
      throw unimplemented(`data_source: data pipelines are not supported yet; ${supported}`);
    default:
      throw invalidArgument(`data_source: expected a known type, found ${dataSource?.type}; ${supported}`);
  }
}
