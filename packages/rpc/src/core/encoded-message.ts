/** Messages that are passed on as they were received: only codecs of JSON decode them (D48). */
import { create, type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { errorText, PlatformError } from '@platform/base/portable';
import { maxMessageDepth } from './max-message-depth.ts';
import { requireFewElements } from './request-limits.ts';

/** Of an answer that is passed on to a caller in JSON. Decoding it and writing it as JSON takes 40 to 60 ms for as many. */
const maxJsonAnswerElements = 100_000;

const encoded = new WeakMap<Message, Uint8Array>();

/** A message that binary codecs write as these bytes. Its fields are not set. @throws internal if the bytes begin with no field */
export function encodedMessage(type: DescMessage, bytes: Uint8Array): Message {
  const message = create(type);
  if (bytes.length > 0) {
    const reader = new BinaryReader(bytes);
    try {
      const [no, wireType] = reader.tag();
      // One unknown field: its tag, and everything after it.
      message.$unknown = [{ no, wireType, data: bytes.subarray(reader.pos) }];
    } catch (caught) {
      throw new PlatformError('internal', `expected a ${type.typeName}, found other bytes: ${errorText(caught)}`);
    }
  }
  encoded.set(message, bytes);
  return message;
}

/** The bytes of a message; without a copy if they are known. */
export function binaryOf(type: DescMessage, message: Message): Uint8Array {
  return encoded.get(message) ?? toBinary(type, message);
}

/** The message with its fields, for codecs that need them. @throws resource_exhausted, internal */
export function decodedMessage(path: string, type: DescMessage, message: Message): Message {
  const bytes = encoded.get(message);
  if (bytes === undefined) return message;
  requireFewElements(`${path}: the answer in JSON`, type, { bytes, isJson: false }, maxJsonAnswerElements);
  try {
    return fromBinary(type, bytes, { recursionLimit: maxMessageDepth });
  } catch (caught) {
    throw new PlatformError('internal', `expected a ${type.typeName}, found other bytes: ${errorText(caught)}`);
  }
}
