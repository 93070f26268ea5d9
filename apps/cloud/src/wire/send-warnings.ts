/** Sends warnings about a saved document with the answer. */
import type { Call } from '@platform/rpc/server';
import { sentencesHeader } from './sentences-header.ts';

const maxChars = 4_000;

/** Sends the warnings in the header `platform-warnings`; it is absent if there are none. */
export function sendWarnings(call: Pick<Call<unknown>, 'responseHeaders'>, warnings: readonly string[]): void {
  const header = sentencesHeader(warnings, maxChars);
  if (header !== undefined) call.responseHeaders.set('platform-warnings', header);
}
