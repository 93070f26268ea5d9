/**
 * A link over `fetch`, for browsers: the Connect protocol with binary messages. Unary calls and streams of answers pass; browsers cannot
 * send a stream of requests.
 */
import { create, type DescMethod, toBinary } from '@bufbuild/protobuf';
import { BytesValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { invalidArgument } from '@platform/base/portable';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { AccessToken } from './access-token.ts';
import type { Credentials, Link } from './connect.ts';
import { keepsEncoded } from './transport/encoded-answers.ts';
import { LinkTransport } from './transport/link-transport.ts';

export interface ConnectWebOptions {
  /** For example https://cloud.example. */
  readonly baseUrl: string;
  /** Exchanged once for a token, and again when the token is refused. If absent, calls carry no authorization but that of `fetch`. */
  readonly credentials?: Credentials | undefined;
  /** How errors name the other side. Default: `baseUrl`. */
  readonly peerName?: string;
  /** Default: that of the browser. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Deadline of unary calls that set none. Default 30 s; 0: no deadline. */
  readonly timeoutMs?: number | undefined;
  /** Ends calls that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
}

/** Its calls throw PlatformErrors, as those of `connect`. @throws invalid_argument if the address cannot be read */
export function connectWeb(options: ConnectWebOptions): Pick<Link, 'client' | 'withHeaders'> {
  const { baseUrl, credentials, fetch, timeoutMs = 30_000, signal } = options;
  if (URL.parse(baseUrl)?.protocol.startsWith('http') !== true)
    throw invalidArgument(`expected an address such as https://cloud.example, found "${baseUrl}"`);
  const inner = withEncodedAnswers(
    createConnectTransport({ baseUrl, useBinaryFormat: true, ...(fetch !== undefined && { fetch }) }),
  );
  // Browsers name themselves.
  const common = { inner, baseUrl: options.peerName ?? baseUrl, timeoutMs, signal, userAgent: '' };
  const signIn = createClient(AuthService, new LinkTransport({ ...common, token: undefined }));
  const fetchToken = async ({ entity, type, payload }: Credentials): Promise<string> =>
    (await signIn.authenticate({ entity, credentials: { type, payload } })).accessToken;
  const token = credentials === undefined ? undefined : new AccessToken(() => fetchToken(credentials));
  const transport = new LinkTransport({ ...common, token });
  return {
    client: (service) => createClient(service, transport),
    withHeaders: (headersOf) => ({ client: (service) => createClient(service, transport.withHeaders(headersOf)) }),
  };
}

/** Answers that are to stay encoded are encoded again: there are few of them in a browser. */
function withEncodedAnswers({ unary, stream }: Transport): Transport {
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const original = keepsEncoded(method) ? originalOf(method) : method;
      const answer = await unary(original, signal, timeoutMs, header, input, contextValues);
      if (original === method) return answer;
      const value = toBinary(original.output, answer.message);
      // The method's output is BytesValue.
      return { ...answer, method, message: create(BytesValueSchema, { value }) as never };
    },
    stream,
  };
}

/** The method of its service, of which `encodedCall` makes another with the same name. */
function originalOf<M extends DescMethod>({ parent, localName }: M): M {
  return parent.method[localName] as M;
}
