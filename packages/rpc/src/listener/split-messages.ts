/**
 * Turns a large message whose only content is one bytes field into several small ones, each with a piece of these bytes, while it arrives.
 * A public client that cannot split a file sends up to 2 GiB in one message; with this, the message is never in memory whole.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { BytesField } from '../core/binding.ts';
import { toConnectError } from '../core/errors.ts';
import { messageTooLarge } from '../core/message-too-large.ts';
import { BodySource } from './body-source.ts';

/** A message of at most this many bytes passes unchanged. */
const wholeBytes = 1024 * 1024;
/** Bytes of the field in each message that a large one becomes. */
const pieceBytes = 256 * 1024;

/** Flags and length that precede each message. */
const envelopeBytes = 5;
/** A tag and a length in each of at most two levels: a field number up to 15 takes one byte, a length up to 4 GiB five. */
const maxPrefixBytes = 12;

/** The body with such messages split. Compressed, JSON and other content passes unchanged and meets the usual limit. */
export async function* splitMessages(
  body: AsyncIterable<Uint8Array>,
  headers: IncomingHttpHeaders,
  field: BytesField,
): AsyncGenerator<Uint8Array, void> {
  if (!/^application\/(grpc|grpc-web|connect)(\+proto)?(;|$)/i.test(headers['content-type'] ?? '')) {
    yield* body;
    return;
  }
  await using source = new BodySource(body);
  while (await source.fill(envelopeBytes)) {
    const envelope = source.peek(envelopeBytes);
    const length = new DataView(envelope.buffer, envelope.byteOffset).getUint32(1);
    let rest = envelopeBytes + length;
    if (envelope[0] === 0 && length > wholeBytes) {
      if (length > field.maxBytes) throw toConnectError(messageTooLarge(field.maxBytes, `${length}`));
      await source.fill(envelopeBytes + maxPrefixBytes);
      const prefix = prefixLength(source.peek(envelopeBytes + maxPrefixBytes).subarray(envelopeBytes), field, length);
      if (prefix !== undefined) {
        source.take(envelopeBytes + prefix);
        for (rest = length - prefix; rest > 0; ) {
          const isWhole = await source.fill(Math.min(rest, pieceBytes));
          // If the body ends within the message, this one is also cut, and the codec refuses it.
          if (!isWhole) return yield envelopeOf(pieceBytes);
          const piece = source.take(Math.min(rest, pieceBytes));
          rest -= piece.length;
          yield wrapped(piece, field);
        }
        continue;
      }
    }
    while (rest > 0 && (await source.fill(1))) {
      const piece = source.take(Math.min(rest, source.length));
      rest -= piece.length;
      yield piece;
    }
  }
  if (source.length > 0) yield source.take(source.length);
}

/** Total length of the tags and lengths that precede the bytes; undefined if the message holds anything else. */
function prefixLength(bytes: Uint8Array, { path }: BytesField, length: number): number | undefined {
  let at = 0;
  for (const number of path) {
    if (bytes[at] !== tagOf(number)) return undefined;
    at += 1;
    let inner = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at];
      if (byte === undefined || shift > 2 ** 28) return undefined;
      at += 1;
      inner += (byte & 0x7f) * shift;
      if (byte < 0x80) break;
    }
    if (at + inner !== length) return undefined;
  }
  return at;
}

function wrapped(piece: Uint8Array, { path }: BytesField): Uint8Array {
  const prefix: number[] = [];
  let length = piece.length;
  for (const number of path.toReversed()) {
    const head = [tagOf(number), ...varint(length)];
    prefix.unshift(...head);
    length += head.length;
  }
  return Buffer.concat([envelopeOf(length), Uint8Array.from(prefix), piece]);
}

/** The tag of a length-delimited field. */
function tagOf(number: number): number {
  return number * 8 + 2;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return [...bytes, rest];
}

function envelopeOf(length: number): Uint8Array {
  const envelope = Buffer.alloc(envelopeBytes);
  envelope.writeUInt32BE(length, 1);
  return envelope;
}
