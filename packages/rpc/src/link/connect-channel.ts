/** A link over a data channel of a WebRTC connection. */
import { create, type DescMessage, fromBinary, type Message } from '@bufbuild/protobuf';
import { BytesValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { type Clock, systemClock } from '@platform/base/portable';
import { channelTransport, type MessageCodec } from '../channel/client/channel-transport.ts';
import type { MessageChannel } from '../channel/message-channel.ts';
import { binaryOf } from '../core/encoded-message.ts';
import { maxMessageDepth } from '../core/max-message-depth.ts';
import { maxAnswerElements, requireFewElements } from '../core/request-limits.ts';
import type { Vocabulary } from '../edge/api-names.ts';
import type { Link } from './connect.ts';
import { LinkTransport } from './transport/link-transport.ts';
import { publicTransport } from './transport/public-transport.ts';

export interface ConnectChannelOptions {
  readonly channel: MessageChannel;
  /** How errors name the other side. */
  readonly peerName: string;
  readonly userAgent: string;
  /** `rdk`: for peers that know only the public names. Default `core`. */
  readonly vocabulary?: Vocabulary;
  /** Deadline of unary and client-streaming calls that set none. Default 0: calls end with their callers. */
  readonly timeoutMs?: number;
  /** Ends calls that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
}

/** A link that lives as long as the channel. The peer has been authenticated when the connection was made. */
export function connectChannel(options: ConnectChannelOptions): Pick<Link, 'client' | 'withHeaders'> {
  const { channel, peerName, userAgent, vocabulary, timeoutMs = 0, signal, clock = systemClock } = options;
  const calls = channelTransport({ channel, codec, clock });
  const transport = new LinkTransport({
    ...{ inner: vocabulary === 'rdk' ? publicTransport(calls) : calls, baseUrl: peerName, userAgent },
    ...{ token: undefined, timeoutMs, signal },
  });
  return {
    client: (service) => createClient(service, transport),
    withHeaders: (headersOf) => ({ client: (service) => createClient(service, transport.withHeaders(headersOf)) }),
  };
}

/** Messages that are passed on stay encoded, and others are decoded only if that is affordable (D48). */
const codec: MessageCodec = {
  encode: binaryOf,
  decode(type: DescMessage, bytes: Uint8Array, what: string): Message {
    if (type === BytesValueSchema) return create(BytesValueSchema, { value: bytes });
    requireFewElements(`${what}: the answer`, type, { bytes, isJson: false }, maxAnswerElements);
    return fromBinary(type, bytes, { recursionLimit: maxMessageDepth });
  },
};
