/** Adds headers to each call of another transport. */
import type {
  DescMessage,
  DescMethod,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
} from '@bufbuild/protobuf';
import type { ContextValues, StreamResponse, Transport, UnaryResponse } from '@connectrpc/connect';

/** The headers for a call of this method. @param signal ends the call */
export type HeadersOf = (
  method: DescMethod,
  signal: AbortSignal | undefined,
) => Promise<Readonly<Record<string, string>>>;

type HeaderInit = ConstructorParameters<typeof Headers>[0];

export class HeaderTransport implements Transport {
  readonly #inner: Transport;
  readonly #headersOf: HeadersOf;

  constructor(inner: Transport, headersOf: HeadersOf) {
    this.#inner = inner;
    this.#headersOf = headersOf;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderInit | undefined,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const headers = await this.#with(method, signal, header);
    return this.#inner.unary(method, signal, timeoutMs, headers, input, contextValues);
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const headers = await this.#with(method, signal, header);
    return this.#inner.stream(method, signal, timeoutMs, headers, input, contextValues);
  }

  async #with(method: DescMethod, signal: AbortSignal | undefined, given: HeaderInit | undefined): Promise<Headers> {
    const headers = new Headers(given);
    for (const [name, value] of Object.entries(await this.#headersOf(method, signal)))
      if (!headers.has(name)) headers.set(name, value);
    return headers;
  }
}
