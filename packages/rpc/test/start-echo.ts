/** A server on a free loopback port with the echo service, authentication by bearer token, and a list as its log. */
import { type Clock, createLog, PlatformError, systemClock } from '@platform/base';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import {
  type Call,
  createRpcServer,
  type Handlers,
  limitRequests,
  type RequestLimitTable,
  type RequestRules,
  type RpcServerOptions,
  serve,
} from '../src/server.ts';
import { EchoService } from './echo-service.ts';

export interface Principal {
  name: string;
}

export interface EchoServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The last calls that reached a handler, oldest first. */
  readonly calls: Call<Principal>[];
  readonly logged: string[];
  /** Tokens that `authenticate` accepts. */
  readonly tokens: Set<string>;
  /** How many times credentials were exchanged. */
  readonly signIns: { count: number };
  setTls(tls: { cert: string; key: string }): void;
  close(options?: { graceMs?: number }): Promise<void>;
}

const echo: Handlers<typeof EchoService, Principal> = {
  say: ({ value }) => ({ value: `you said ${value}` }),
  async join(requests) {
    const words: string[] = [];
    for await (const { value } of requests) words.push(value);
    return { value: words.join(' ') };
  },
  async *split({ value }) {
    for (const word of value.split(' ')) yield { value: word };
  },
  async *chat(requests) {
    for await (const { value } of requests) yield { value: value.toUpperCase() };
  },
};

type EchoHandlers = Handlers<typeof EchoService, Principal>;

function recording({ say, join, split, chat }: EchoHandlers, record: (call: Call<Principal>) => void): EchoHandlers {
  const first = <R, T>(handler: ((requests: R, call: Call<Principal>) => T) | undefined) => {
    if (handler === undefined) throw new Error('the echo service has functions for these methods');
    return (requests: R, call: Call<Principal>): T => {
      record(call);
      return handler(requests, call);
    };
  };
  return { say: first(say), join: first(join), split: first(split), chat: first(chat) };
}

export async function startEcho(
  handlers: Handlers<typeof EchoService, Principal> = {},
  {
    rules = {},
    limits = {},
    ...options
  }: Partial<RpcServerOptions<Principal>> & {
    port?: number;
    rules?: RequestRules<Principal>;
    limits?: RequestLimitTable;
  } = {},
): Promise<EchoServer> {
  const calls: Call<Principal>[] = [];
  const logged: string[] = [];
  const tokens = new Set(['token-1']);
  const signIns = { count: 0 };
  const record = (call: Call<Principal>): void => {
    calls.push(call);
  };
  const auth = serve<typeof AuthService, Principal>(AuthService, {
    authenticate({ entity, credentials }) {
      signIns.count++;
      if (credentials?.payload !== 'secret') {
        throw new PlatformError('permission_denied', `the secret of ${entity} is not the one that was given`);
      }
      return { accessToken: [...tokens].at(-1) ?? '' };
    },
  });
  const server = createRpcServer<Principal>({
    open: ['/proto.rpc.v1.AuthService/Authenticate'],
    async authenticate(call) {
      const token = call.metadata.get('authorization')?.replace(/^Bearer /, '');
      if (token === undefined || !tokens.has(token))
        throw new PlatformError('unauthenticated', 'expected a valid bearer token, found none');
      return { name: token };
    },
    fallback(request, response) {
      response.setHeader('content-type', 'text/plain');
      response.statusCode = 404;
      (response as import('node:http').ServerResponse).end(`nothing at ${request.url}`);
    },
    log: createLog((level, _name, message, fields) => logged.push(`${level} ${message} ${JSON.stringify(fields)}`)),
    ...options,
    services: [
      ...limitRequests([serve(EchoService, recording({ ...echo, ...handlers }, record), rules)], limits),
      auth,
      ...(options.services ?? []),
    ],
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  const scheme = options.tls === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    calls,
    logged,
    tokens,
    signIns,
    setTls: (next) => server.setTls(next),
    close: (how) => server.close(how),
    [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }),
  };
}

export const credentials = { entity: 'key-1', type: 'api-key', payload: 'secret' };

/** A clock on which no wait ends by itself, so nothing under it can end by a timeout. */
export const patientClock: Clock = {
  ...systemClock,
  sleep: (_ms, signal) =>
    new Promise((_resolve, reject) => {
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
};
