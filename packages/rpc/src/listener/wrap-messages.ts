/**
 * Puts each message of a body into the bytes field of another (google.protobuf.BytesValue), for methods that decode their requests
 * themselves: every protocol then passes them on undecoded.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { varintBytes, writeVarint } from '@platform/base';
import { isEnveloped } from './limit-body.ts';

/** Flags and length that precede each message. */
const envelopeBytes = 5;
/** BytesValue.value = 1, length-delimited. */
const valueTag = 0x0a;

/** @param body uncompressed; with a length prefix before each message, messages arrive whole, or apart from their prefix */
export function wrapMessages(body: AsyncIterable<Uint8Array>, headers: IncomingHttpHeaders): AsyncIterable<Uint8Array> {
  return isEnveloped(headers) ? wrapEach(body) : wrapAll(body);
}

async function* wrapAll(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  yield prefixOf(chunks.reduce((sum, { length }) => sum + length, 0));
  yield* chunks;
}

async function* wrapEach(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  /** A prefix came alone: the next chunk is its message. */
  let isMessage = false;
  for await (const chunk of body) {
    if (isMessage) {
      isMessage = false;
      yield chunk;
      continue;
    }
    let at = 0;
    for (let end = 0; at + envelopeBytes <= chunk.length; at = end) {
      const length = new DataView(chunk.buffer, chunk.byteOffset + at).getUint32(1);
      end = at + envelopeBytes + length;
      isMessage = length > 0 && chunk[at] === 0 && at + envelopeBytes === chunk.length;
      // The body ends within this message, which the codec refuses. Other flags belong to no message of the method.
      if ((end > chunk.length && !isMessage) || chunk[at] !== 0) break;
      const prefix = prefixOf(length);
      const envelope = Buffer.alloc(envelopeBytes);
      envelope.writeUInt32BE(prefix.length + length, 1);
      yield Buffer.concat([envelope, prefix]);
      if (!isMessage) yield chunk.subarray(at + envelopeBytes, end);
    }
    if (at < chunk.length) yield chunk.subarray(at);
  }
}

function prefixOf(length: number): Uint8Array {
  const prefix = new Uint8Array(1 + varintBytes(length));
  prefix[0] = valueTag;
  writeVarint(prefix, 1, length);
  return prefix;
}
