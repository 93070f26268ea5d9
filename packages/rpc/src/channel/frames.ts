/**
 * How a call is cut into messages of a data channel, the same for both sides. All dialects of public peers are understood: stream ids from
 * 0 or from 1; requests that end with their only message, with `eos` on each of its packets, or with a frame of its own.
 *
 * No Node and no server code: browsers load this file.
 */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type Metadata,
  type MetadataSchema,
  RequestSchema,
  ResponseSchema,
} from '@platform/proto/proto/rpc/webrtc/v1/grpc';

/** Longer messages of calls are refused, as over HTTP/2. Public peers drop them, and their callers wait for ever. */
export const maxMessageBytes: number = 32 * 1024 * 1024;

/** Data of one packet. Public peers read frames of up to 64 KiB. */
const maxPacketBytes = 60_000;

/** One side sends an empty frame of stream 0 to show that it is there, and the other answers it. */
export const heartbeatMs = 2_000;
/** After this time without any frame, whoever has announced heartbeats is gone. */
export const silentMs = 5_000;
/** In the headers of a server's first answer: it understands heartbeats. */
export const heartbeatHeader = 'platform-heartbeats';

export function requestFrame(
  id: bigint,
  type: Exclude<NonNullable<MessageInitShape<typeof RequestSchema>['type']>, { case: undefined }>,
): Uint8Array {
  return toBinary(RequestSchema, create(RequestSchema, { stream: { id }, type }));
}

export function responseFrame(
  id: bigint,
  type: Exclude<NonNullable<MessageInitShape<typeof ResponseSchema>['type']>, { case: undefined }>,
): Uint8Array {
  return toBinary(ResponseSchema, create(ResponseSchema, { stream: { id }, type }));
}

/** Without a type: public peers never send such a frame. */
export const heartbeatFrame: Uint8Array = toBinary(RequestSchema, create(RequestSchema, { stream: {} }));

/** One packet of a request or an answer, as `requestFrame` and `responseFrame` encode it, but its data is copied only once. */
export function packetFrame(id: bigint, { data, eom }: Packet, request?: { readonly eos: boolean }): Uint8Array {
  const isRequest = request !== undefined;
  const ofPacket = new BinaryWriter();
  if (data.length > 0) ofPacket.tag(1, WireType.LengthDelimited).uint32(data.length);
  const packetHead = ofPacket.finish();
  const packetTail = eom ? encodedEom : nothing;
  const packetBytes = packetHead.length + data.length + packetTail.length;
  const ofMessage = new BinaryWriter();
  if (isRequest) ofMessage.tag(1, WireType.Varint).bool(true);
  ofMessage.tag(isRequest ? 2 : 1, WireType.LengthDelimited).uint32(packetBytes);
  const messageHead = ofMessage.finish();
  const messageTail = request?.eos === true ? encodedEos : nothing;
  const messageBytes = messageHead.length + packetBytes + messageTail.length;
  const head = new BinaryWriter();
  head.tag(1, WireType.LengthDelimited).fork();
  if (id !== 0n) head.tag(1, WireType.Varint).uint64(id);
  head.join().tag(3, WireType.LengthDelimited).uint32(messageBytes);
  return joined(head.finish(), messageHead, packetHead, data, packetTail, messageTail);
}

const nothing = new Uint8Array(0);
/** `PacketMessage.eom` and `RequestMessage.eos`, which follow what has a length. */
const encodedEom: Uint8Array = new BinaryWriter().tag(2, WireType.Varint).bool(true).finish();
const encodedEos: Uint8Array = new BinaryWriter().tag(3, WireType.Varint).bool(true).finish();

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export interface Packet {
  readonly data: Uint8Array;
  /** Whether it is the last of its message. */
  readonly eom: boolean;
}

export function* packetsOf(message: Uint8Array): Generator<Packet, void> {
  let at = 0;
  do {
    const data = message.subarray(at, at + maxPacketBytes);
    at += data.length;
    yield { data, eom: at >= message.length };
  } while (at < message.length);
}

/** @throws ConnectError invalid_argument if a name or a value cannot be a header */
export function headersIn(metadata: Metadata | undefined): Headers {
  const headers = new Headers();
  for (const [name, { values }] of Object.entries(metadata?.md ?? {})) {
    // These belong to the transport.
    if (name.startsWith(':')) continue;
    try {
      for (const value of values) headers.append(name, value);
    } catch {
      throw new ConnectError(
        `metadata: expected names and values as HTTP has them, found ${JSON.stringify(name.slice(0, 80))}`,
        Code.InvalidArgument,
      );
    }
  }
  return headers;
}

export function metadataOf(headers: Headers): MessageInitShape<typeof MetadataSchema> {
  return { md: Object.fromEntries([...headers].map(([name, value]) => [name, { values: [value] }])) };
}
