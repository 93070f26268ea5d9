/** The compatibility edge of a client: calls a peer that knows only the public names (`/viam.…`, `rdk:…`). */
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { ContextValues, StreamResponse, Transport, UnaryResponse } from '@connectrpc/connect';
import { peerTypeName } from '../../edge/alias.ts';
import { canonicalise, inVocabulary } from '../../edge/translate-message.ts';
import type { HeaderInit } from './header-init.ts';

export class PublicTransport implements Transport {
  readonly #inner: Transport;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderInit | undefined,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const request = spelled(method.input, input);
    const answer = await this.#inner.unary(publicly(method), signal, timeoutMs, header, request, contextValues);
    return { ...answer, message: canonicalise(method.output, answer.message) };
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const requests = each(input, (message) => spelled(method.input, message));
    const answer = await this.#inner.stream(publicly(method), signal, timeoutMs, header, requests, contextValues);
    return { ...answer, message: each(answer.message, (message) => canonicalise(method.output, message)) };
  }
}

function spelled<D extends DescMessage>(schema: D, message: MessageInitShape<D>): MessageInitShape<D> {
  // A translated message is one of the same type.
  return inVocabulary('rdk', schema, create(schema, message) as MessageShape<D>) as MessageInitShape<D>;
}

/** The method, with its service under its public name. */
function publicly<M extends DescMethod>(method: M): M {
  const { parent } = method;
  return { ...method, parent: { ...parent, typeName: peerTypeName(parent.typeName, 'rdk') } };
}

async function* each<T, U>(items: AsyncIterable<T>, change: (item: T) => U): AsyncGenerator<U, void> {
  for await (const item of items) yield change(item);
}
