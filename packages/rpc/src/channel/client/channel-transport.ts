/**
 * Calls over a data channel, as a Transport of Connect: for machines of ours and for public ones.
 *
 * A machine that understands heartbeats says so in the headers of its first answer. From then on, each side ends a connection on which
 * nothing arrives for 5 s. No Node and no server code: browsers load this file.
 */
import { create, type DescMessage, type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { type Clock, systemClock } from '@platform/base/clock';
import { type Response, ResponseSchema } from '@platform/proto/proto/rpc/webrtc/v1/grpc';
import type { HeaderInit } from '../../link/transport/header-init.ts';
import {
  heartbeatFrame,
  heartbeatHeader,
  heartbeatMs,
  maxMessageBytes,
  metadataOf,
  packetFrame,
  packetsOf,
  requestFrame,
  silentMs,
} from '../frames.ts';
import type { MessageChannel } from '../message-channel.ts';
import { ClientCall } from './client-call.ts';

/** How messages become bytes. Servers as clients keep some of them encoded (D48). */
export interface MessageCodec {
  encode(type: DescMessage, message: Message): Uint8Array;
  /** @param what of which call, for errors. @throws if the bytes are no such message, or hold too much */
  decode(type: DescMessage, bytes: Uint8Array, what: string): Message;
}

const plainCodec: MessageCodec = {
  encode: (type, message) => toBinary(type, message),
  decode: (type, bytes) => fromBinary(type, bytes),
};

export interface ChannelTransportOptions {
  readonly channel: MessageChannel;
  readonly codec?: MessageCodec;
  readonly clock?: Pick<Clock, 'after' | 'every' | 'monotonic'>;
}

/** Uses the channel for as long as it lives; calls after its end are UNAVAILABLE. */
export function channelTransport(options: ChannelTransportOptions): Transport {
  const connection = new ClientConnection(options);
  const { codec } = connection;
  const begin = (
    method: DescMethod,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderInit | undefined,
  ): ClientCall => {
    const headers = new Headers(header);
    const call = connection.open(`/${method.parent.typeName}/${method.name}`, headers, timeoutMs);
    call.endWith(signal, timeoutMs, connection.clock);
    return call;
  };
  return {
    async unary(method, signal, timeoutMs, header, input) {
      const call = begin(method, signal, timeoutMs, header);
      try {
        const request = create(method.input, input);
        await connection.send(call, codec.encode(method.input, request), true);
        const header = await call.headers;
        const { value: bytes } = await call.next();
        if (bytes === undefined)
          throw new ConnectError('expected one message as the answer, found none', Code.Unimplemented);
        const message = codec.decode(method.output, bytes, call.method) as never;
        // The status follows the message.
        const more = await call.next();
        if (more.done !== true)
          throw new ConnectError('expected one message as the answer, found another', Code.Unimplemented);
        return { stream: false, service: method.parent, method, header, message, trailer: call.trailers };
      } catch (caught) {
        throw call.abandon(caught);
      }
    },
    async stream(method, signal, timeoutMs, header, input) {
      const call = begin(method, signal, timeoutMs, header);
      const send = async (): Promise<void> => {
        for await (const each of input) {
          const request = create(method.input, each);
          await connection.send(call, codec.encode(method.input, request), false);
        }
        connection.endRequests(call);
      };
      send().catch((caught: unknown) => call.abandon(caught));
      async function* messages(): AsyncGenerator<never, void> {
        try {
          for (let next = await call.next(); next.done !== true; next = await call.next())
            yield codec.decode(method.output, next.value, call.method) as never;
        } catch (caught) {
          throw call.abandon(caught);
        } finally {
          call.abandon(new ConnectError('the caller has enough', Code.Canceled));
        }
      }
      const headers = await call.headers;
      return {
        stream: true,
        service: method.parent,
        method,
        header: headers,
        message: messages(),
        trailer: call.trailers,
      };
    },
  };
}

class ClientConnection {
  readonly codec: MessageCodec;
  readonly clock: Pick<Clock, 'after' | 'every' | 'monotonic'>;
  readonly #channel: MessageChannel;
  readonly #calls = new Map<bigint, ClientCall>();
  /** Rust counts from 0, Go from 1. */
  #nextId = 1n;
  #heardMs: number;
  #heartbeat: Disposable | undefined;

  constructor({ channel, codec = plainCodec, clock = systemClock }: ChannelTransportOptions) {
    this.codec = codec;
    this.clock = clock;
    this.#channel = channel;
    this.#heardMs = clock.monotonic();
    const end = (): void => {
      this.#heartbeat?.[Symbol.dispose]();
      for (const call of [...this.#calls.values()]) call.fail(lost(channel));
    };
    if (channel.ended.aborted) end();
    else channel.ended.addEventListener('abort', end, { once: true });
    channel.onMessage = (message) => this.#receive(message);
  }

  open(method: string, headers: Headers, timeoutMs: number | undefined): ClientCall {
    if (this.#channel.ended.aborted) throw lost(this.#channel);
    const id = this.#nextId++;
    const call = new ClientCall(id, method, (isAbandoned) => {
      this.#calls.delete(id);
      if (isAbandoned) this.#channel.send(requestFrame(id, { case: 'rstStream', value: true }));
    });
    this.#calls.set(id, call);
    const timeout = durationFromMs(timeoutMs === undefined || timeoutMs <= 0 ? 0 : Math.ceil(timeoutMs));
    const value = { method, metadata: metadataOf(headers), timeout };
    this.#channel.send(requestFrame(id, { case: 'headers', value }));
    return call;
  }

  /** @param isOnly whether it is the whole request */
  async send(call: ClientCall, message: Uint8Array, isOnly: boolean): Promise<void> {
    if (message.length > maxMessageBytes)
      throw new ConnectError(
        `${call.method}: expected a request of at most ${maxMessageBytes} bytes, found ${message.length}: split it into several`,
        Code.ResourceExhausted,
      );
    for (const packet of packetsOf(message)) {
      await call.orEnded(this.#channel.drained());
      // Whoever takes the end of the stream for that of the request must have the whole message.
      this.#channel.send(packetFrame(call.id, packet, { eos: isOnly && packet.eom }));
    }
  }

  endRequests({ id, hasEnded }: ClientCall): void {
    if (hasEnded) return;
    const value = { hasMessage: false, packetMessage: { eom: true }, eos: true };
    this.#channel.send(requestFrame(id, { case: 'message', value }));
  }

  #receive(message: Uint8Array): void {
    this.#heardMs = this.clock.monotonic();
    let response: Response;
    try {
      response = fromBinary(ResponseSchema, message);
    } catch {
      // The other end speaks something else.
      this.#channel.close();
      return;
    }
    const { type } = response;
    const call = this.#calls.get(response.stream?.id ?? 0n);
    if (type.case === 'headers' && type.value.metadata?.md[heartbeatHeader] !== undefined) this.#beat();
    if (call !== undefined) call.receive(type);
  }

  #beat(): void {
    this.#heartbeat ??= this.clock.every(heartbeatMs, () => {
      if (this.clock.monotonic() - this.#heardMs >= silentMs) this.#channel.close();
      else this.#channel.send(heartbeatFrame);
    });
  }
}

function lost({ ended }: MessageChannel): ConnectError {
  const { reason } = ended;
  const why = reason instanceof Error ? `: ${reason.message}` : '';
  return new ConnectError(`the connection to the machine has ended${why}`, Code.Unavailable);
}
