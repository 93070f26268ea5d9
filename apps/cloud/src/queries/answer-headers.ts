/** Headers that an answer carries besides its rows. */
import type { QueryResult } from '../tabular/tabular.ts';
import { sentencesHeader } from '../wire/sentences-header.ts';

const maxNoticesChars = 2_000;

export function answerHeaders(
  { scannedBytes, elapsedMs }: Pick<QueryResult, 'scannedBytes' | 'elapsedMs'>,
  notices: readonly string[],
): [name: string, value: string][] {
  const header = sentencesHeader(notices, maxNoticesChars);
  return [
    ['platform-scanned-bytes', String(scannedBytes)],
    ['platform-elapsed-ms', elapsedMs.toFixed(3)],
    ...(header === undefined ? [] : [['platform-notices', header] as [string, string]]),
  ];
}
