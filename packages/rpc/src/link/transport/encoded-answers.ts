/** Calls whose answers stay encoded, for those so large that decoding them must not hold up the event loop (D48). */
import type { DescMethod, DescService, Message } from '@bufbuild/protobuf';
import { type BytesValue, BytesValueSchema } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { encodedMessage } from '../../core/encoded-message.ts';
import { carriesApiNames } from '../../edge/api-fields.ts';

/** What makes clients: a Link. */
interface Clients {
  client<S extends DescService>(service: S): Client<S>;
}

/** Calls a unary method; its request is the one of the method. */
export type EncodedCall = (
  request: object,
  options?: {
    readonly signal?: AbortSignal;
    readonly timeoutMs?: number;
    readonly headers?: Readonly<Record<string, string>>;
  },
) => Promise<Uint8Array>;

/** The method with the encoded answer as its result. Its elements are not counted, because it is not decoded. */
export function encodedCall(link: Clients, method: DescMethod): EncodedCall {
  const client = link.client(withMethods(method.parent, [twinOf(method)])) as unknown as Readonly<
    Record<string, (request: object, options?: object) => Promise<BytesValue>>
  >;
  return async (request, options) => (await client[method.localName]?.(request, options))?.value ?? new Uint8Array();
}

type AnyMethod = (request: unknown, options?: object) => unknown;

/**
 * A client for calls that are only passed on: their answers stay encoded, for codecs of any kind to write. Answers with names of APIs, which
 * each peer spells in its own way, are decoded.
 */
export function passingClient<S extends DescService>(link: Clients, service: S): Client<S> {
  const isPassed = ({ output }: DescMethod): boolean => !carriesApiNames(output);
  const twins = service.methods.map((method) => (isPassed(method) ? twinOf(method) : method));
  const given = link.client(withMethods(service, twins)) as unknown as Readonly<Record<string, AnyMethod>>;
  const passed = service.methods.filter(isPassed).map(({ localName, methodKind, output }): [string, AnyMethod] => {
    const messageOf = ({ value }: BytesValue): Message => encodedMessage(output, value);
    const call = given[localName] as AnyMethod;
    return [
      localName,
      methodKind === 'unary' || methodKind === 'client_streaming'
        ? async (request, options) => messageOf((await call(request, options)) as BytesValue)
        : (request, options) => eachOf(call(request, options) as AsyncIterable<BytesValue>, messageOf),
    ];
  });
  // The erasure of createClient, whose functions these wrap.
  return { ...given, ...Object.fromEntries(passed) } as Client<S>;
}

async function* eachOf(answers: AsyncIterable<BytesValue>, messageOf: (answer: BytesValue) => Message) {
  for await (const answer of answers) yield messageOf(answer);
}

function twinOf(method: DescMethod): DescMethod {
  return { ...method, output: BytesValueSchema } as DescMethod;
}

function withMethods(service: DescService, methods: readonly DescMethod[]): DescService {
  return {
    ...service,
    methods,
    method: Object.fromEntries(methods.map((each) => [each.localName, each])),
  } as DescService;
}

/** Whether the answer of the method is put into a BytesValue, as received. */
export function keepsEncoded({ output }: DescMethod): boolean {
  return output === BytesValueSchema;
}
