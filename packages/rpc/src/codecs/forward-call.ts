/**
 * Passes on calls that name another server, which may have services that this one does not know. Their methods are bound
 * when they are called, and this server needs no descriptors of their messages.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { unimplemented } from '@platform/base';
import type { BodyGate, ServiceBinding } from '../core/binding.ts';
import { type CodecOptions, createBuilder } from './build-handler.ts';

/** The kind of method as far as the request shows it. */
export type ForwardedKind = 'unary' | 'server_streaming' | 'bidi_streaming';

export interface ForwardCalls<P> {
  /** Whether a call names another server. @param path canonical @param headers as the peer sent them, names in lower case */
  forwards(path: string, headers: IncomingHttpHeaders): boolean;
  /**
   * Binds one method; called before the caller is known. Undefined: this server answers it itself, like its own unary methods.
   *
   * @param path canonical: `/package.Service/Method`
   * @param kind the most general kind that the framing of the request allows
   */
  bind(path: string, kind: ForwardedKind): ServiceBinding<P> | undefined;
}

/** The handler of a call that is forwarded; undefined for other calls. */
export type FindForwarded = (path: string, headers: IncomingHttpHeaders) => UniversalHandler | undefined;

/** Callers can make up paths, so only this many handlers are kept. */
const maxKept = 1_000;

/** All calls that are forwarded need authentication. */
export function forwarded<P>(
  calls: ForwardCalls<P>,
  options: Omit<CodecOptions<P>, 'services' | 'open'>,
): FindForwarded {
  const kept = new Map<string, UniversalHandler>();
  return (path, headers) => {
    if (!calls.forwards(path, headers)) return undefined;
    const contentType = headers['content-type'] ?? '';
    const kind = kindOf(contentType);
    const isJson = contentType.includes('json');
    const key = `${kind} ${isJson} ${path}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const [bound] = calls.bind(path, kind)?.methods ?? [];
    if (bound === undefined) return undefined;
    const method = isJson ? { ...bound, beforeBody: refuseJson } : bound;
    const made = createBuilder<P>({ ...options, services: [{ methods: [method] }], open: new Set() })(method);
    if (kept.size >= maxKept) kept.clear();
    kept.set(key, made);
    return made;
  };
}

function kindOf(contentType: string): ForwardedKind {
  // Only Connect sends a message without an envelope.
  if (/^application\/(proto|json)\b/i.test(contentType)) return 'unary';
  // gRPC-Web works over HTTP/1.1, which has no streams in both directions.
  return /^application\/grpc-web/i.test(contentType) ? 'server_streaming' : 'bidi_streaming';
}

const refuseJson: BodyGate = async ({ method }) => {
  throw unimplemented(
    `${method}: expected a message in binary (application/grpc, application/grpc-web or application/proto), because this server passes the call on and does not know its messages; found JSON`,
  );
};
