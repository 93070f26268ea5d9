/** Parses the body of `POST /api/query`. */
import { invalidArgument, type PlatformError } from '@platform/base';
import { type Document, EJSON, serialize } from 'bson';
import type { QueryText } from '../queries/feature.ts';
import { BodyTooLarge } from '../test-inbox/read-body.ts';
import { requireFewElements } from '../wire/few-elements.ts';
import { isDeeperThan } from '../wire/json-depth.ts';

export const answerForms = ['json', 'ndjson', 'arrow'] as const;
export type AnswerForm = (typeof answerForms)[number];

export interface QueryRequest {
  /** Empty: the caller's only organization. */
  readonly organizationId: string;
  readonly query: QueryText;
  /** Only readings that arrived at this time or later. Undefined: all. */
  readonly since: Date | undefined;
  /** Only readings that arrived before this time. Undefined: all. */
  readonly until: Date | undefined;
  /** Undefined: the Accept header decides. */
  readonly format: AnswerForm | undefined;
}

const fields = ['organization_id', 'sql', 'mql', 'since', 'until', 'format'];
/** Maximum levels of documents and lists in a query: the limit of MongoDB. */
const maxQueryLevels = 200;
/**
 * Levels around a query, and within an Extended JSON value such as `{"$date": {"$numberLong": "0"}}`. The query itself is checked when it
 * is planned.
 */
const otherLevels = 4;

/**
 * Of the body; a separator or bracket counts two. Reading Extended JSON takes three times as long as reading BSON, of which a pipeline may
 * have twice as many.
 */
const maxElements = 50_000;

/** @param body a JSON object; values of a pipeline may be Extended JSON. @throws invalid_argument, resource_exhausted */
export function readQueryRequest(body: string): QueryRequest {
  const given = parsed(body);
  const unknown = Object.keys(given).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    throw refused(JSON.stringify(unknown.slice(0, 60)), `one of the fields ${fields.join(', ')}`, 'no such field');
  const { organization_id: organizationId = '', format } = given;
  if (typeof organizationId !== 'string') throw refused('organization_id', 'text', kindOf(organizationId));
  const isForm = (value: unknown): value is AnswerForm => answerForms.some((form) => form === value);
  if (format !== undefined && !isForm(format)) throw refused('format', answerForms.join(', '), kindOf(format));
  const [since, until] = [timeOf('since', given), timeOf('until', given)];
  if (since !== undefined && until !== undefined && since >= until)
    throw refused('until', `a time after since, ${since.toISOString()}`, kindOf(given['until']));
  return { organizationId, query: queryOf(given), since, until, format };
}

function timeOf(field: 'since' | 'until', { [field]: value }: Document): Date | undefined {
  if (value === undefined) return undefined;
  const time = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : undefined;
  if (time === undefined || Number.isNaN(time.getTime()))
    throw refused(field, 'a time such as "2026-01-31T12:00:00Z"', kindOf(value));
  return time;
}

function queryOf({ sql, mql }: Document): QueryText {
  if ((sql === undefined) === (mql === undefined))
    throw refused('query', 'either "sql" or "mql"', sql === undefined ? 'none of them' : 'both');
  if (sql !== undefined) {
    if (typeof sql !== 'string') throw refused('sql', 'text', kindOf(sql));
    return { sql };
  }
  if (!Array.isArray(mql)) throw refused('mql', 'a list of stages', kindOf(mql));
  return {
    mql: mql.map((stage: unknown, index) => {
      if (typeof stage !== 'object' || stage === null || Array.isArray(stage))
        throw refused(`mql[${index}]`, 'a stage, such as {"$limit": 10}', kindOf(stage));
      try {
        return serialize(stage, { ignoreUndefined: false });
      } catch (caught) {
        throw refused(`mql[${index}]`, 'a stage that BSON can hold', 'another', caught);
      }
    }),
  };
}

function parsed(body: string): Document {
  // The parser calls itself at each level, so that otherwise the stack would be the limit.
  if (isDeeperThan(body, maxQueryLevels + otherLevels))
    throw refused('body', `a query of at most ${maxQueryLevels} nested documents and lists`, 'more');
  requireFewElements('body', body, maxElements, new BodyTooLarge());
  let value: unknown;
  try {
    value = EJSON.parse(body);
  } catch (caught) {
    throw refused('body', 'a JSON object', 'text that is not (Extended) JSON', caught);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw refused('body', 'a JSON object', kindOf(value));
}

function refused(where: string, expected: string, found: string, cause?: unknown): PlatformError {
  return invalidArgument(`${where}: expected ${expected}, found ${found}`, cause);
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}
