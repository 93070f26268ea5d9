/** One call on the side of the server. */
import { create, fromBinary, type Message } from '@bufbuild/protobuf';
import { BytesValueSchema, durationMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { errorText, invalidArgument, type PlatformError, resourceExhausted } from '@platform/base';
import type { RequestHeaders, RequestMessage } from '@platform/proto/proto/rpc/webrtc/v1/grpc';
import type { AdmittedMethod } from '../../codecs/codecs.ts';
import { missingMethodText } from '../../codecs/unknown-method.ts';
import { type BoundMethod, takesEncoded } from '../../core/binding.ts';
import type { AnswerListener } from '../../core/call.ts';
import { binaryOf } from '../../core/encoded-message.ts';
import { toConnectError } from '../../core/errors.ts';
import { FastPathCall } from '../../core/fast-path-call.ts';
import { maxMessageDepth } from '../../core/max-message-depth.ts';
import { messageTooLarge } from '../../core/message-too-large.ts';
import { requireFewElements } from '../../core/request-limits.ts';
import { answerBidi, answerClientStream, answerServerStream, answerUnary } from '../../core/run-call.ts';
import { RunningCall } from '../../core/running-call.ts';
import { canonicalPath } from '../../edge/alias.ts';
import { vocabularyAsked } from '../../edge/api-names.ts';
import { Assembler } from '../assembler.ts';
import {
  headersIn,
  heartbeatHeader,
  maxMessageBytes,
  metadataOf,
  packetFrame,
  packetsOf,
  responseFrame,
  silentMs,
} from '../frames.ts';
import type { CallHost } from './call-host.ts';
import { RequestQueue } from './request-queue.ts';
import { timeoutIn } from './timeout-in.ts';

export class ServedCall<P> {
  readonly #channel: CallHost<P>;
  readonly #id: bigint;
  readonly #head: RequestHeaders;
  readonly #path: string;
  readonly #start: FastPathCall;
  readonly #timer: Disposable | undefined;
  readonly #found: AdmittedMethod<P> | undefined;
  readonly #assembler = new Assembler();
  readonly #requests: RequestQueue;
  readonly #over = Promise.withResolvers<void>();
  readonly #listeners: AnswerListener[] = [];
  /** Whether the server's headers were sent; answers are understood only after them. */
  #hasHeaders = false;
  readonly #announces: boolean;
  #isRunning = false;
  #isOver = false;

  /** @param announces whether its headers say that this server understands heartbeats */
  constructor(channel: CallHost<P>, id: bigint, head: RequestHeaders, announces: boolean) {
    this.#channel = channel;
    this.#id = id;
    this.#head = head;
    this.#announces = announces;
    const { clock, codecs, peer } = channel.deps;
    const { path, vocabulary } = canonicalPath(head.method);
    this.#path = path;
    this.#found = codecs.method(path);
    const timeoutMs = timeoutIn(head.timeout && durationMs(head.timeout), head.metadata?.md['grpc-timeout']?.values[0]);
    const asked = vocabularyAsked({ 'platform-vocabulary': head.metadata?.md['platform-vocabulary']?.values[0] });
    this.#start = new FastPathCall({
      method: path,
      vocabulary: asked ?? vocabulary,
      deadline: timeoutMs === undefined ? undefined : clock.now() + timeoutMs,
      metadata: () => headersIn(head.metadata),
      peerAddress: peer.address,
      onAnswered: (listener) => void this.#listeners.push(listener),
    });
    this.#requests = new RequestQueue((bytes) => channel.free(bytes));
    this.#timer =
      timeoutMs === undefined
        ? undefined
        : clock.after(
            timeoutMs,
            () => void this.end(new ConnectError('the operation timed out', Code.DeadlineExceeded)),
          );
  }

  get hasEnded(): boolean {
    return this.#start.hasEnded;
  }

  /** A part of the request. */
  receive({ hasMessage, packetMessage, eos }: RequestMessage): void {
    if (this.#start.hasEnded || this.#requests.isComplete) return;
    if (hasMessage && packetMessage !== undefined) {
      const { maxRequestBytes = maxMessageBytes } = this.#found?.admission.costOf(this.#path) ?? {};
      const { length } = packetMessage.data;
      if (this.#assembler.bytes + length > maxRequestBytes) {
        this.refuse(messageTooLarge(maxRequestBytes, 'more'));
        return;
      }
      if (!this.#channel.take(length)) {
        this.refuse(
          resourceExhausted(
            `${this.#path}: requests arrive faster on this connection than they are taken: send fewer at once`,
          ),
        );
        return;
      }
      const message = this.#assembler.add(packetMessage);
      if (message !== undefined) this.#requests.add(message);
    }
    // Public clients mark every packet of their last message, not only its end.
    if (eos && (packetMessage === undefined || packetMessage.eom || !hasMessage)) this.#requests.complete();
  }

  /** The peer gives the call up, or is gone. */
  cancel(): void {
    this.#finish(new ConnectError('the client left', Code.Canceled), false);
  }

  /** Ends the call, because its time or that of the server is over, and tells the peer so. */
  async end(reason: ConnectError): Promise<void> {
    if (this.#start.hasEnded) return;
    this.#start.end(reason);
    // What runs notices, and answers with the reason.
    if (this.#isRunning) await this.#over.promise;
    else this.#trailers(reason);
  }

  /** Answers at once; what runs is aborted. */
  refuse(error: PlatformError): void {
    this.#trailers(toConnectError(error));
  }

  async run(): Promise<void> {
    this.#isRunning = true;
    const start = this.#start;
    try {
      if (this.#found === undefined) {
        const text = missingMethodText(
          this.#head.method,
          this.#channel.deps.codecs.hasService(this.#path.split('/')[1] ?? ''),
        );
        throw new ConnectError(text, Code.Unimplemented);
      }
      const { bound, admission } = this.#found;
      // Throws if it is unreadable.
      void start.metadata;
      const call = new RunningCall<P>(start);
      await admission.admit(call, this.#channel.deps.peer.authenticate, (promise) => start.orEnded(promise));
      try {
        await this.#answer(bound, call);
      } catch (caught) {
        throw admission.interpret(caught, call);
      }
      this.#trailers(undefined);
    } catch (caught) {
      this.#trailers(ConnectError.from(caught));
    }
  }

  async #answer(bound: BoundMethod<P>, call: RunningCall<P>): Promise<void> {
    const { output } = bound.method;
    switch (bound.kind) {
      case 'unary':
        return this.#send(binaryOf(output, await answerUnary(bound, await this.#only(bound, call), call)));
      case 'client_streaming':
        return this.#send(binaryOf(output, await answerClientStream(bound, this.#each(bound), call)));
      case 'server_streaming':
        return this.#sendAll(bound, answerServerStream(bound, await this.#only(bound, call), call));
      case 'bidi_streaming':
        return this.#sendAll(bound, answerBidi(bound, this.#each(bound), call));
    }
  }

  /** The request of a method that takes one message: its end need not be marked. */
  async #only(bound: BoundMethod<P>, { signal }: RunningCall<P>): Promise<Message> {
    const bytes = await this.#requests.next(signal);
    if (bytes === undefined) throw invalidArgument(`${this.#path}: expected one message as the request, found none`);
    return this.#decoded(bound, bytes);
  }

  async *#each(bound: BoundMethod<P>): AsyncGenerator<Message, void> {
    const { maxMessages } = this.#found?.admission.costOf(this.#path) ?? { maxMessages: 0 };
    for (let count = 1; ; count++) {
      const bytes = await this.#requests.next(this.#start.signal);
      if (bytes === undefined) return;
      if (count > maxMessages)
        throw resourceExhausted(`${this.#path}: expected at most ${maxMessages} messages in one stream, found more`);
      yield this.#decoded(bound, bytes);
    }
  }

  #decoded({ method, keepUnknown, limits }: BoundMethod<P>, bytes: Uint8Array): Message {
    if (takesEncoded(method)) return create(BytesValueSchema, { value: bytes });
    requireFewElements(this.#path, method.input, { bytes, isJson: false }, limits.maxElements);
    try {
      return fromBinary(method.input, bytes, { recursionLimit: maxMessageDepth, readUnknownFields: keepUnknown });
    } catch (caught) {
      throw invalidArgument(
        `expected a ${method.input.typeName} as the request of ${this.#path}, found bytes that do not decode: ${errorText(caught)}`,
      );
    }
  }

  async #sendAll({ method }: BoundMethod<P>, answers: AsyncIterable<Message>): Promise<void> {
    // A stream may be quiet for hours, and its caller is to know that it was accepted. Headers wait only for what is available at once.
    setImmediate(() => this.#headers());
    for await (const answer of answers) await this.#send(binaryOf(method.output, answer));
  }

  async #send(message: Uint8Array): Promise<void> {
    const { channel } = this.#channel.deps;
    if (message.length > maxMessageBytes)
      throw resourceExhausted(
        `${this.#path}: expected an answer of at most ${maxMessageBytes} bytes, found ${message.length}: request less at once`,
      );
    if (!this.#channel.take(message.length))
      throw resourceExhausted(
        `${this.#path}: the answers on this connection are not read: read them, or ask for less at once`,
      );
    try {
      this.#headers();
      for (const packet of packetsOf(message)) {
        const drained = channel.drained();
        await this.#start.orEnded(drained);
        channel.send(packetFrame(this.#id, packet));
      }
    } finally {
      this.#channel.free(message.length);
    }
  }

  #headers(): void {
    if (this.#hasHeaders || this.#isOver) return;
    this.#hasHeaders = true;
    const headers = this.#start.headersInUse.headers ?? new Headers();
    if (this.#announces) headers.set(heartbeatHeader, String(silentMs));
    const value = { metadata: metadataOf(headers) };
    this.#channel.deps.channel.send(responseFrame(this.#id, { case: 'headers', value }));
  }

  /** @param error undefined: it was answered */
  #trailers(error: ConnectError | undefined): void {
    if (this.#isOver) return;
    // All clients refuse trailers before headers.
    this.#headers();
    const trailers = this.#start.headersInUse.trailers ?? new Headers();
    error?.metadata.forEach((value, name) => void trailers.append(name, value));
    const status = { code: error?.code ?? 0, message: error?.rawMessage ?? '' };
    const { channel } = this.#channel.deps;
    channel.send(responseFrame(this.#id, { case: 'trailers', value: { status, metadata: metadataOf(trailers) } }));
    this.#finish(undefined, !channel.ended.aborted);
  }

  #finish(reason: ConnectError | undefined, isDelivered: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
    this.#channel.leave(this.#id);
    this.#start.end(reason);
    this.#requests.discard(this.#assembler.bytes);
    for (const listener of this.#listeners) listener(isDelivered);
    this.#over.resolve();
  }
}
