/** Answers calls to methods that this server does not have, in the framing that the caller understands. */
import type { Http2ServerResponse } from 'node:http2';
import { codes } from '@platform/base';
import type { NodeRequest, NodeResponse } from '../listener/node-types.ts';
import { writeResponse } from '../listener/write-response.ts';
import { encodeGrpcMessage } from './grpc-message.ts';

const rpcPath = /^\/[A-Za-z][\w.]*\.[A-Z]\w*\/[A-Za-z]\w*$/;

/** Whether an unhandled request is a call: by its content type, or by a service path with a message in the body. */
export function looksLikeCall(path: string, verb: string, contentType: string): boolean {
  if (contentType.startsWith('application/grpc') || contentType.startsWith('application/connect+')) return true;
  if (!rpcPath.test(path)) return false;
  return verb === 'OPTIONS' || (verb === 'POST' && /^application\/(json|proto)\b/.test(contentType));
}

export function answerUnknownMethod(
  request: NodeRequest,
  response: NodeResponse,
  { path, asked }: { readonly path: string; readonly asked: string },
  hasService: (service: string) => boolean,
): void {
  const [, service = ''] = path.split('/');
  const message = missingMethodText(asked, hasService(service));
  const contentType = request.headers['content-type'] ?? '';
  // Whatever the client still sends is discarded; unread, it would fill the connection's window.
  request.resume();
  if (contentType.startsWith('application/grpc')) {
    answerGrpc(response, contentType, message);
    return;
  }
  const error = { code: 'unimplemented', message };
  if (contentType.startsWith('application/connect+')) {
    const end = Buffer.from(JSON.stringify({ error, metadata: {} }));
    const prefix = Buffer.alloc(5);
    prefix.writeUInt8(2);
    prefix.writeUInt32BE(end.length, 1);
    writeResponse(response, 200, { 'content-type': contentType }, Buffer.concat([prefix, end]));
    return;
  }
  writeResponse(response, 501, { 'content-type': 'application/json' }, JSON.stringify(error));
}

function answerGrpc(response: NodeResponse, contentType: string, message: string): void {
  const trailers = {
    'content-type': contentType,
    'grpc-status': String(codes.unimplemented),
    'grpc-message': encodeGrpcMessage(message),
  };
  if (isHttp2(response)) {
    // One HEADERS frame that ends the stream; writeHead + end would send an empty DATA frame, which gRPC clients refuse.
    const headers = { ...response.getHeaders(), ':status': 200, ...trailers };
    if (!response.stream.destroyed) response.stream.respond(headers, { endStream: true });
    return;
  }
  writeResponse(response, 200, trailers, '');
}

function isHttp2(response: NodeResponse): response is Http2ServerResponse {
  return 'stream' in response;
}

/** @param asked the path, in the package name that the caller used */
export function missingMethodText(asked: string, hasService: boolean): string {
  const [, service = '', method = ''] = asked.split('/');
  return hasService
    ? `${service} has no method ${method} on this server`
    : `this server has no service ${service || asked}, so no method ${asked}`;
}
