/** The codes with which calls end whose connection or stream failed, as the gRPC mapping of HTTP/2 codes has them. */
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

const {
  NGHTTP2_PROTOCOL_ERROR,
  NGHTTP2_INTERNAL_ERROR,
  NGHTTP2_FLOW_CONTROL_ERROR,
  NGHTTP2_SETTINGS_TIMEOUT,
  NGHTTP2_FRAME_SIZE_ERROR,
  NGHTTP2_REFUSED_STREAM,
  NGHTTP2_CANCEL,
  NGHTTP2_COMPRESSION_ERROR,
  NGHTTP2_CONNECT_ERROR,
  NGHTTP2_ENHANCE_YOUR_CALM,
  NGHTTP2_INADEQUATE_SECURITY,
  NGHTTP2_HTTP_1_1_REQUIRED,
} = constants;

const resets: ReadonlyMap<number, readonly [name: string, code: Code]> = new Map([
  [NGHTTP2_PROTOCOL_ERROR, ['PROTOCOL_ERROR', Code.Internal]],
  [NGHTTP2_INTERNAL_ERROR, ['INTERNAL_ERROR', Code.Internal]],
  [NGHTTP2_FLOW_CONTROL_ERROR, ['FLOW_CONTROL_ERROR', Code.Internal]],
  [NGHTTP2_SETTINGS_TIMEOUT, ['SETTINGS_TIMEOUT', Code.Internal]],
  [NGHTTP2_FRAME_SIZE_ERROR, ['FRAME_SIZE_ERROR', Code.Internal]],
  [NGHTTP2_REFUSED_STREAM, ['REFUSED_STREAM', Code.Unavailable]],
  [NGHTTP2_CANCEL, ['CANCEL', Code.Canceled]],
  [NGHTTP2_COMPRESSION_ERROR, ['COMPRESSION_ERROR', Code.Internal]],
  [NGHTTP2_CONNECT_ERROR, ['CONNECT_ERROR', Code.Internal]],
  [NGHTTP2_ENHANCE_YOUR_CALM, ['ENHANCE_YOUR_CALM', Code.ResourceExhausted]],
  [NGHTTP2_INADEQUATE_SECURITY, ['INADEQUATE_SECURITY', Code.PermissionDenied]],
  [NGHTTP2_HTTP_1_1_REQUIRED, ['HTTP_1_1_REQUIRED', Code.PermissionDenied]],
]);

/** @returns undefined for a stream that ended in order */
export function errorOfReset(rstCode: number | undefined): ConnectError | undefined {
  const [name, code] = resets.get(rstCode ?? 0) ?? [];
  if (name === undefined) return undefined;
  return new ConnectError(`http/2 stream closed with error code ${name} (0x${rstCode?.toString(16)})`, code);
}
