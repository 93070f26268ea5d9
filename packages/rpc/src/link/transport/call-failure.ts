/** The codes of calls whose connection or stream failed, the same as those of Connect's transports. */
import { constants } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';

const aborted = new Set([
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_STREAM_DESTROYED',
  'ERR_HTTP2_INVALID_STREAM',
  'ECONNRESET',
]);
const unreachable = new Set(['ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED']);

/** The code for an error of Node's streams or sockets, from its own code or that of a cause. */
export function codeOfFailure(caught: unknown): Code {
  for (let error = caught, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++) {
    const code = 'code' in error ? String(error.code) : '';
    if (aborted.has(code)) return Code.Aborted;
    if (unreachable.has(code)) return Code.Unavailable;
  }
  return Code.Internal;
}

/** The code for a stream that closed without an answer. Every other reset is an error of the stream before it closes. */
export function errorOfClose(rstCode: number | undefined): ConnectError {
  return rstCode === constants.NGHTTP2_CANCEL
    ? new ConnectError('http/2 stream closed with error code CANCEL (0x8)', Code.Canceled)
    : new ConnectError('the stream closed without an answer', Code.Aborted);
}
