/** `POST /api/query`: rows as JSON. */
import type { QueryAnswer } from '../query/run-query.ts';
import { endSession, messageOf } from './session.svelte.ts';

/** @throws Error with what the cloud said */
export async function runQueryRequest(body: object, signal: AbortSignal): Promise<QueryAnswer> {
  const answer = await fetch('/api/query', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  if (answer.status === 401) endSession();
  if (!answer.ok) throw new Error(await messageOf(answer));
  return {
    rows: await answer.json(),
    scannedBytes: Number(answer.headers.get('platform-scanned-bytes') ?? 0),
    elapsedMs: Number(answer.headers.get('platform-elapsed-ms') ?? 0),
    notices: answer.headers.get('platform-notices') ?? '',
  };
}
