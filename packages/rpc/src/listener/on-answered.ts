/** Whether an answer was delivered, as far as this end can know: whether the connection took it whole. */
import type { ServerResponse } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { AnswerListener } from '../core/call.ts';

/** Calls `listener` once, at the end of the response; at once if that has passed. */
export function onAnswered(response: ServerResponse | ServerHttp2Stream, listener: AnswerListener): void {
  if (response.destroyed || response.closed) {
    listener(false);
    return;
  }
  response.once('close', () => {
    const isReset = 'rstCode' in response && response.rstCode !== constants.NGHTTP2_NO_ERROR;
    listener(response.writableFinished && !isReset);
  });
}
