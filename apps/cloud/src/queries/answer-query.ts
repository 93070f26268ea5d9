/** A query of a caller from its scope to its rows: what every way to ask has in common. */
import { PlatformError } from '@platform/base';
import type { Plan } from '@platform/query';
import { noticesOf } from '@platform/query/mql';
import type { Principal } from '../access/principal.ts';
import type { QueryResult } from '../tabular/tabular.ts';
import type { QueriesDeps } from './queries-deps.ts';

export interface AskedQuery {
  readonly organizationId: string;
  readonly principal: Principal;
  /** Called once the caller is known to read data of the organization. @throws what is wrong with the query */
  readonly parse: () => Plan | Promise<Plan>;
  readonly vocabulary: 'core' | 'rdk';
  readonly signal: AbortSignal;
  /** Absent: the default of the store. */
  readonly deadlineMs?: number;
  readonly explain?: boolean;
}

export interface AnsweredQuery {
  readonly result: QueryResult;
  /** What the query says that hardly anybody means. */
  readonly notices: readonly string[];
}

/** @throws invalid_argument without an organization, not_found when the caller reads none of its data, and as Tabular.query */
export async function answerQuery(
  { tabular, access, log }: Pick<QueriesDeps, 'tabular' | 'access' | 'log'>,
  asked: AskedQuery,
): Promise<AnsweredQuery> {
  const { organizationId, principal, parse, vocabulary, signal, deadlineMs, explain = false } = asked;
  if (organizationId === '')
    throw new PlatformError('invalid_argument', 'organization_id: expected the id of an organization, found none');
  const scope = access.scopeIn(principal, organizationId);
  const plan = await parse();
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
  return { result, notices: noticesOf(plan) };
}
