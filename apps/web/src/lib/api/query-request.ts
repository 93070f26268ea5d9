/** `POST /api/query`: rows as JSON. */
import type { Row } from '../query/pipeline.ts';
import { exactMs } from '../ui/now.svelte.ts';
import { askWith } from './session.svelte.ts';

export interface QueryAnswer {
  readonly rows: readonly Row[];
  readonly scannedBytes: number;
  readonly elapsedMs: number;
  /** Bytes that the organization's queries have scanned this month, and their limit. */
  readonly monthBytes: number;
  readonly monthLimitBytes: number;
  /** The cloud's notices about the answer, such as a limit. */
  readonly notices: string;
  readonly answered: Date;
}

/** @throws Error with the cloud's message */
export async function runQueryRequest(
  body: object,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<QueryAnswer> {
  const answer = await askWith('/api/query', body, {
    headers: { accept: 'application/json', ...headers },
    signal,
  });
  return {
    rows: await answer.json(),
    scannedBytes: Number(answer.headers.get('platform-scanned-bytes') ?? 0),
    elapsedMs: Number(answer.headers.get('platform-elapsed-ms') ?? 0),
    monthBytes: Number(answer.headers.get('platform-month-bytes') ?? 0),
    monthLimitBytes: Number(answer.headers.get('platform-month-limit-bytes') ?? 0),
    notices: noticesOf(answer.headers.get('platform-notices')),
    answered: new Date(exactMs()),
  };
}

/** The header is a percent-encoded list. */
function noticesOf(header: string | null): string {
  return header === null ? '' : (JSON.parse(decodeURIComponent(header)) as readonly string[]).join(' · ');
}
