/** `POST /api/query`: runs a query in SQL or MQL and sends its rows as JSON, NDJSON or Arrow, for notebooks, dashboards and curl. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { invalidArgument, PlatformError } from '@platform/base';
import { type Batch, decodeBson, documentsOf } from '@platform/query';
import { allowOrigin, answerPreflight, isPreflight, vocabularyAsked } from '@platform/rpc/server';
import { grantsOf, organizationsOf, type Principal } from '../access/principal.ts';
import { answerHeaders } from '../queries/answer-headers.ts';
import { wantsExplain } from '../queries/explain-row.ts';
import type { Queries } from '../queries/feature.ts';
import { jsonText } from '../queries/json-rows.ts';
import { readBody } from '../test-inbox/read-body.ts';
import { type HttpRequest, type Route, writeHead } from '../wire/route.ts';
import { headerOf, requireType } from './http.ts';
import { type AnswerForm, readQueryRequest } from './query-request.ts';

export interface QueryRouteDeps {
  readonly queries: Pick<Queries, 'ask'>;
  /** @throws unauthenticated */
  readonly principalOf: (request: HttpRequest) => Promise<Principal>;
}

const maxBodyBytes = 1024 * 1024;
/** Headers of an answer that pages of other origins may read. */
const exposed = ['scanned-bytes', 'elapsed-ms', 'month-bytes', 'month-limit-bytes', 'notices'].map(
  (name) => `platform-${name}`,
);
/** Size of each write. */
const chunkChars = 64 * 1024;

const types: Readonly<Record<AnswerForm, string>> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  arrow: 'application/vnd.apache.arrow.stream',
};

export function queryRoute({ queries, principalOf }: QueryRouteDeps): Route {
  return async (request, response, url) => {
    if (url.pathname !== '/api/query') return false;
    if (isPreflight(request)) {
      answerPreflight(request, response);
      return true;
    }
    allowOrigin(request, response, exposed);
    if (request.method !== 'POST') throw invalidArgument(`/api/query: expected POST, found ${request.method}`);
    const principal = await principalOf(request);
    requireType(request, 'application/json');
    const asked = readQueryRequest(await readBody(request, maxBodyBytes));
    const format = asked.format ?? formOf(headerOf(request, 'accept'));
    const gone = new AbortController();
    response.once('close', () => gone.abort(new PlatformError('canceled', 'the caller is gone')));
    const explain = wantsExplain(new Headers({ 'platform-explain': headerOf(request, 'platform-explain') }));
    const { result, notices, explained } = await queries.ask({
      organizationId: asked.organizationId || onlyOrganization(principal),
      query: asked.query,
      arrived: { since: asked.since, until: asked.until },
      explain,
      principal,
      vocabulary: vocabularyAsked(request.headers) ?? 'core',
      signal: gone.signal,
    });
    const plain = writeHead(response, 200, {
      'content-type': types[explained ? 'json' : format],
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...Object.fromEntries(answerHeaders(result, notices)),
    });
    const chunks = format === 'arrow' ? await arrowChunks(result) : textChunks(result, format);
    if (explained !== undefined) {
      plain.end(`[${jsonText(decodeBson(explained))}]\n`);
      return true;
    }
    // If the reader disconnects, there is no one left to answer.
    await pipeline(Readable.from(chunks, { objectMode: false }), plain, { signal: gone.signal }).catch(() => {});
    return true;
  };
}

/** @throws invalid_argument unless there is exactly one */
function onlyOrganization(principal: Principal): string {
  const [first, ...others] = organizationsOf(grantsOf(principal));
  if (first !== undefined && others.length === 0) return first;
  throw invalidArgument(
    `organization_id: expected the id of one of the ${others.length + 1} organizations that you may see, found none`,
  );
}

function formOf(accept: string): AnswerForm {
  if (accept.includes('arrow')) return 'arrow';
  return /ndjson|jsonl|json-seq/.test(accept) ? 'ndjson' : 'json';
}

async function arrowChunks(rows: Batch): Promise<Iterable<Uint8Array>> {
  // Loaded on demand: it is large, and most installations never need it.
  const { arrowStream } = await import('../queries/arrow-rows.ts');
  return [arrowStream(rows)];
}

/** A JSON array with one row per line, or just the lines. */
function* textChunks(rows: Batch, format: 'json' | 'ndjson'): Generator<Buffer> {
  const [start, between, end] = format === 'json' ? ['[', ',\n', ']\n'] : ['', '\n', rows.count > 0 ? '\n' : ''];
  let text = start;
  let isFirst = true;
  for (const row of documentsOf(rows)) {
    text += `${isFirst ? '' : between}${jsonText(row)}`;
    isFirst = false;
    if (text.length < chunkChars) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text + end);
}
