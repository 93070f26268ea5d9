/** Joins a service's descriptors to the functions that answer its calls. */
import type {
  DescMessage,
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { BytesValueSchema } from '@bufbuild/protobuf/wkt';
import { unimplemented } from '@platform/base';
import { peerTypeName } from '../edge/alias.ts';
import type { Call } from './call.ts';
import { defaultRequestLimits, type RequestLimits } from './request-limits.ts';

/** The answer to a call: the fields of the message, or nothing if it has none. */
export type Answer<O extends DescMessage> =
  | MessageInitShape<O>
  | EmptyAnswer<Exclude<keyof MessageShape<O>, keyof Message>>;

/** The return value of a function without `return`. */
// biome-ignore lint/suspicious/noConfusingVoidType: it is a return type
type EmptyAnswer<Field> = [Field] extends [never] ? void : never;

/** The input of a method's function. Several messages are an async iterable. */
export type RequestOf<M extends DescMethod> = M extends DescMethodClientStreaming | DescMethodBiDiStreaming
  ? AsyncIterable<MessageShape<M['input']>>
  : MessageShape<M['input']>;

/** The output of a method's function. */
export type ResponseOf<M extends DescMethod> = M extends DescMethodServerStreaming | DescMethodBiDiStreaming
  ? AsyncIterable<MessageInitShape<M['output']>>
  : Promise<Answer<M['output']>>;

/** A unary method may also answer synchronously. */
type MethodHandler<M extends DescMethod, P> = (
  request: RequestOf<M>,
  call: Call<P>,
) => ResponseOf<M> | (M extends DescMethodUnary ? Answer<M['output']> : never);

/** Functions for the methods of a service, by their names in the generated code (`listOrganizations`). */
export type Handlers<S extends DescService, P = unknown> = {
  readonly [K in keyof S['method']]?: MethodHandler<S['method'][K], P>;
};

/** Refuses a call to its service, by throwing, before a byte of the request's body is read; runs after `authenticate`. */
export type BodyGate<P = unknown> = (call: Call<P>) => Promise<void>;

/** A method and its function, with the message types erased. Several messages in either direction are an async iterable. */
export type BoundMethod<P> = {
  readonly path: string;
  /** False: it always answers UNIMPLEMENTED. */
  readonly implemented: boolean;
  /** Serves only the binary codecs of its path, with a request type that has the same bytes on the wire. */
  readonly raw: boolean;
  readonly beforeBody: BodyGate<P> | undefined;
  /** What one request may cost; `limitRequests` sets other limits than the default. */
  readonly limits: RequestLimits;
  /** Whether fields of the request that its type does not have are kept, to be passed on. */
  readonly keepUnknown: boolean;
  /** Where a large message of a client stream is split; undefined: nowhere. */
  readonly splitAt: BytesField | undefined;
} & (
  | {
      readonly kind: 'unary';
      readonly method: DescMethodUnary;
      readonly handler: MethodHandler<DescMethodUnary, P>;
    }
  | {
      readonly kind: 'client_streaming';
      readonly method: DescMethodClientStreaming;
      readonly handler: MethodHandler<DescMethodClientStreaming, P>;
    }
  | {
      readonly kind: 'server_streaming';
      readonly method: DescMethodServerStreaming;
      readonly handler: MethodHandler<DescMethodServerStreaming, P>;
    }
  | {
      readonly kind: 'bidi_streaming';
      readonly method: DescMethodBiDiStreaming;
      readonly handler: MethodHandler<DescMethodBiDiStreaming, P>;
    }
);

/** Methods that are ready to be served. */
export interface ServiceBinding<P = unknown> {
  readonly methods: readonly BoundMethod<P>[];
}

/** `/package.Service/Method`. */
export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** A bytes field that is the only content of a message. */
export interface BytesField {
  /** Its field number, after those of the messages that contain it; each at most 15. */
  readonly path: readonly number[];
  /** Maximum bytes of such a message. */
  readonly maxBytes: number;
}

/** Rules for the requests of a service that apply before they are decoded. */
export interface RequestRules<P = unknown> {
  readonly beforeBody?: BodyGate<P>;
  /** Keeps fields that the type of a request does not have, for servers that pass it on. Default false: they are skipped. */
  readonly keepUnknown?: boolean;
  /**
   * Keyed by the name of a client-streaming method in the generated code. A message over 1 MiB that holds only this field reaches the
   * function as several messages, each with a piece of the bytes, so it is never in memory whole. Compressed and JSON messages are not
   * split.
   */
  readonly splitAt?: Readonly<Record<string, BytesField>>;
}

/** Binds a service. A method without a function answers UNIMPLEMENTED with a message that names it. */
export function serve<S extends DescService, P = unknown>(
  service: S,
  handlers: Handlers<S, P>,
  rules: RequestRules<P> = {},
): ServiceBinding<P> {
  const given: Readonly<Record<string, unknown>> = handlers;
  return { methods: service.methods.map((method) => bind<P>(method, given[method.localName], rules)) };
}

/**
 * Binds a unary method a second time, for the binary codecs of its path: `input` is a message with the same bytes on the wire whose parts
 * stay encoded. JSON still goes to the function that `serve` bound, so both should call the same code. The handler must canonicalise API
 * names inside the undecoded parts (`canonicalise`, `canonicalApi`). The gate that `serve` was given applies here as well.
 */
export function rawUnary<I extends DescMessage, O extends DescMessage, P = unknown>(
  method: DescMethodUnary<DescMessage, O>,
  input: I,
  handler: MethodHandler<DescMethodUnary<I, O>, P>,
): ServiceBinding<P> {
  const twin: DescMethodUnary = { ...method, input };
  return { methods: [{ ...bind<P>(twin, handler, {}), raw: true }] };
}

/**
 * Binds a unary method a second time, for the binary codecs of its path: its function gets the encoded message and decodes it itself, for
 * requests so large that this must not hold up the event loop (D48). Otherwise like `rawUnary`.
 */
export function encodedUnary<O extends DescMessage, P = unknown>(
  method: DescMethodUnary<DescMessage, O>,
  handler: (bytes: Uint8Array, call: Call<P>) => ReturnType<MethodHandler<DescMethodUnary<DescMessage, O>, P>>,
): ServiceBinding<P> {
  return rawUnary<typeof BytesValueSchema, O, P>(method, BytesValueSchema, ({ value }, call) => handler(value, call));
}

/** A BytesValue is at most this much longer than its bytes: a tag and a length. */
export const maxWrapBytes: number = 1 + 5;

/** Whether the method was bound by `encodedUnary`: its requests are put into a BytesValue, as sent. */
export function takesEncoded({ input }: DescMethod): boolean {
  return input === BytesValueSchema;
}

const refusals = new WeakSet<object>();

/** For a method of the public API that this server deliberately omits: answers UNIMPLEMENTED with what to call instead. */
export function refusal(message: string): () => never {
  const refuse = (): never => {
    throw unimplemented(message);
  };
  refusals.add(refuse);
  return refuse;
}

function bind<P>(method: DescMethod, handler: unknown, rules: RequestRules<P>): BoundMethod<P> {
  const bound = {
    path: methodPath(method),
    implemented: typeof handler === 'function' && !refusals.has(handler),
    raw: false,
    beforeBody: rules.beforeBody,
    limits: defaultRequestLimits,
    keepUnknown: rules.keepUnknown ?? false,
    splitAt: rules.splitAt?.[method.localName],
    kind: method.methodKind,
    method,
    handler: handler ?? notServed(method),
  };
  // The only type erasure: `Handlers` has checked that the function fits the method.
  return bound as unknown as BoundMethod<P>;
}

function notServed(method: DescMethod): (requests: unknown, call: Call) => never {
  return (_requests, { vocabulary }) => {
    const service = peerTypeName(method.parent.typeName, vocabulary);
    throw unimplemented(`${service}.${method.name} is not implemented by this server`);
  };
}
