/** Headers of an answer, in addition to its rows. */
import type { QueryResult } from '../tabular/tabular.ts';
import { sentencesHeader } from '../wire/sentences-header.ts';

const maxNoticesChars = 2_000;

export function answerHeaders(
  { scannedBytes, elapsedMs, month }: Pick<QueryResult, 'scannedBytes' | 'elapsedMs' | 'month'>,
  notices: readonly string[],
): [name: string, value: string][] {
  const header = sentencesHeader(notices, maxNoticesChars);
  return [
    ['platform-scanned-bytes', String(scannedBytes)],
    ['platform-elapsed-ms', elapsedMs.toFixed(3)],
    ...(month === undefined
      ? []
      : ([
          ['platform-month-bytes', String(month.usedBytes)],
          ['platform-month-limit-bytes', String(month.limitBytes)],
        ] as [string, string][])),
    ...(header === undefined ? [] : [['platform-notices', header] as [string, string]]),
  ];
}
