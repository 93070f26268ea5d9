/** `POST /api/query`: rows as JSON. */
import type { QueryAnswer } from '../query/run-query.ts';
import { askWith } from './session.svelte.ts';

/** @throws Error with what the cloud said */
export async function runQueryRequest(body: object, signal: AbortSignal): Promise<QueryAnswer> {
  const answer = await askWith('/api/query', body, { headers: { accept: 'application/json' }, signal });
  return {
    rows: await answer.json(),
    scannedBytes: Number(answer.headers.get('platform-scanned-bytes') ?? 0),
    elapsedMs: Number(answer.headers.get('platform-elapsed-ms') ?? 0),
    notices: answer.headers.get('platform-notices') ?? '',
  };
}
