/** A server on a free loopback port with the echo service, authentication by bearer token, and a list as its log. */
import { createLog, PlatformError } from '@platform/base';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import {
  type Call,
  createRpcServer,
  type Handlers,
  type RpcServerOptions,
  type ServiceBinding,
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
  /** How often credentials were exchanged. */
  readonly signIns: { count: number };
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

export async function startEcho(
  handlers: Handlers<typeof EchoService, Principal> = {},
  options: Partial<RpcServerOptions<Principal>> & { port?: number } = {},
): Promise<EchoServer> {
  const calls: Call<Principal>[] = [];
  const logged: string[] = [];
  const tokens = new Set(['token-1']);
  const signIns = { count: 0 };
  const seen = (binding: ServiceBinding<Principal>): ServiceBinding<Principal> => ({
    methods: binding.methods.map((method) => ({
      ...method,
      handler: (request: never, call: Call<Principal>) => {
        calls.push(call);
        return (method.handler as (request: never, call: Call<Principal>) => unknown)(request, call);
      },
    })) as ServiceBinding<Principal>['methods'],
  });
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
    services: [seen(serve(EchoService, { ...echo, ...handlers })), auth, ...(options.services ?? [])],
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
    close: (how) => server.close(how),
    [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }),
  };
}

export const credentials = { entity: 'key-1', type: 'api-key', payload: 'secret' };
