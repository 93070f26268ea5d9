/** Serves calls over connections other than sockets: HTTP/2 by prior knowledge, without TLS, over any duplex stream. */
import { createServer, type ServerHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import { type Clock, errorText, type Log } from '@platform/base';
import { createCodecs } from '../codecs/codecs.ts';
import type { ServiceBinding } from '../core/binding.ts';
import type { Call } from '../core/call.ts';
import { enterInTurns } from '../core/enter-in-turns.ts';
import { shutdownReason } from '../core/errors.ts';
import { maxHeaderBytes, maxTunnelCalls, slowBodyMs, tunnelWindowBytes } from '../listener/limits.ts';
import { createRouter } from '../listener/route-request.ts';
import { writeResponse } from '../listener/write-response.ts';
import { standardServices } from '../standard/standard-services.ts';

/** Of one request. */
const maxMessageBytes = 32 * 1024 * 1024;

export interface TunnelServerOptions<P> {
  /** Health and reflection are added. */
  readonly services: readonly ServiceBinding<P>[];
  /** Identifies the caller. The far end is trusted: it has authenticated the caller. */
  readonly authenticate: (call: Call) => Promise<P>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface TunnelServer<P = unknown> extends AsyncDisposable {
  /** Also serves these services, those of modules, in place of those of the last call. */
  setAdded(services: readonly ServiceBinding<P>[]): void;
  /** Serves a connection until it ends. Its calls then end as canceled. */
  serve(stream: Duplex): Promise<void>;
}

export function createTunnelServer<P>(options: TunnelServerOptions<P>): TunnelServer<P> {
  const { authenticate, clock, log } = options;
  const shutdown = new AbortController();
  let added: readonly ServiceBinding<P>[] = [];
  const services = [...options.services, ...standardServices<P>(options.services, () => added).services];
  const codecs = createCodecs<P>({
    ...{ services, authenticate, maxMessageBytes, clock, log },
    // The far end has authenticated the caller, for health and reflection as well.
    open: new Set(),
    shutdownSignal: shutdown.signal,
    callerFields: () => ({}),
  });
  const route = createRouter({
    ...{ codecs, slowBodyMs, clock, log },
    fallback: (_request, response) => writeResponse(response, 404, { 'content-type': 'text/plain' }, 'not a call\n'),
  });
  const sessions = new Set<ServerHttp2Session>();
  const http2 = createServer(
    {
      settings: {
        initialWindowSize: tunnelWindowBytes,
        maxHeaderListSize: maxHeaderBytes,
        // Canceled calls count until both ends have noticed the cancellation.
        maxConcurrentStreams: 2 * maxTunnelCalls,
      },
    },
    (request, response) => {
      const { stream } = request;
      const enter = (): void => route(request, response);
      enterInTurns(stream.session ?? stream, { isGone: () => stream.destroyed, enter });
    },
  );
  http2.on('session', (session) => {
    sessions.add(session);
    session.setLocalWindowSize(maxTunnelCalls * tunnelWindowBytes);
    session.on('close', () => sessions.delete(session));
    session.on('error', (error) => log.debug('a tunnelled connection failed', { error: errorText(error) }));
  });
  return {
    setAdded(services) {
      codecs.setAdded(services);
      added = services;
    },
    serve(stream) {
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.once('close', resolve);
      // Without a listener, the error of a broken connection would end the process.
      stream.on('error', () => {});
      http2.emit('connection', stream);
      return promise;
    },
    async [Symbol.asyncDispose]() {
      shutdown.abort(shutdownReason());
      for (const session of sessions) session.destroy();
    },
  };
}
