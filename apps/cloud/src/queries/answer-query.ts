/** Answers a query, from the caller's scope to its rows: shared by all interfaces for queries. */
import { invalidArgument } from '@platform/base';
import { namespaceNotices, type Plan, spellApis } from '@platform/query';
import { noticesOf } from '@platform/query/mql';
import type { Principal } from '../access/principal.ts';
import type { QueryResult } from '../tabular/tabular.ts';
import type { QueriesDeps } from './queries-deps.ts';
import { unknownNames } from './unknown-names.ts';

export interface AskedQuery {
  readonly organizationId: string;
  readonly principal: Principal;
  /** Called once it is certain that the caller may read data of the organization. @throws what is wrong with the query */
  readonly parse: () => Plan | Promise<Plan>;
  readonly vocabulary: 'core' | 'rdk';
  readonly signal: AbortSignal;
  /** Absent: the store's default. */
  readonly deadlineMs?: number;
  readonly explain?: boolean;
}

export interface AnsweredQuery {
  readonly result: QueryResult;
  /** Parts of the query that are valid but probably unintended. */
  readonly notices: readonly string[];
}

const hotUnconfigured =
  'the hot store is empty: no capture method of the organization is configured for it. Set recent_data_store.stored_hours of a capture method, or query the standard store';

/** @throws invalid_argument without an organization; not_found if the caller may read none of its data; otherwise like Tabular.query */
export async function answerQuery(
  deps: Pick<QueriesDeps, 'tabular' | 'access' | 'names' | 'clock' | 'log' | 'noticeMs' | 'onAnswered'>,
  asked: AskedQuery,
): Promise<AnsweredQuery> {
  const { tabular, access, log, onAnswered } = deps;
  const { organizationId, principal, parse, vocabulary, signal, deadlineMs, explain = false } = asked;
  if (organizationId === '') throw invalidArgument('organization_id: expected the id of an organization, found none');
  const scope = access.scopeIn(principal, organizationId);
  const plan = spellApis(await parse(), vocabulary);
  const result = await tabular.query({
    ...{ plan, explain, scope, vocabulary, signal },
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
  log.debug('query answered', {
    organizationId,
    rows: result.count,
    bytes: result.bytes.length,
    scannedBytes: result.scannedBytes,
  });
  // An explanation is returned instead of the rows.
  if (!explain) onAnswered?.(organizationId, result.bytes.length);
  const notices = [...noticesOf(plan), ...namespaceNotices(plan, vocabulary)];
  if (result.isHotUnconfigured) return { result, notices: [hotUnconfigured, ...notices] };
  const unknown = await unknownNames(deps, { plan, scope, vocabulary, signal }, result);
  return { result, notices: [...notices, ...unknown] };
}
