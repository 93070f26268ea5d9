/**
 * The last step before the codecs: messages are decompressed, their elements are counted, and streams of many messages leave the event loop
 * to others in between (D48). So the codecs only ever decode what is affordable, in every protocol alike.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Compression } from '@connectrpc/connect/protocol';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import { PlatformError, resourceExhausted } from '@platform/base';
import { toConnectError } from '../core/errors.ts';
import { damagedMessage, MessageChecksums } from '../core/message-checksums.ts';
import { messageTooLarge } from '../core/message-too-large.ts';
import { Pieces } from '../core/pieces.ts';
import { type RequestLimits, requireFewElements } from '../core/request-limits.ts';
import { decompressGzip } from './decompress-gzip.ts';
import { isEnveloped } from './limit-body.ts';

/** Decodes and answers about 10 µs each. */
const messagesPerTurn = 64;
const prefixBytes = 5;
const compressedFlag = 1;
/** Trailers and the end of a stream, which are no messages of the method. */
const maxEndBytes = 64 * 1_024;

export interface MessageChecks {
  /** Used in error messages. */
  readonly path: string;
  readonly type: DescMessage;
  /** Of one message, also after decompression. */
  readonly maxMessageBytes: number;
  readonly limits: Pick<RequestLimits, 'maxElements' | 'maxJsonBytes' | 'maxMessages'>;
  readonly isJson: boolean;
  /** Each message ends with its checksum. Default false. */
  readonly isSummed?: boolean;
}

/** Compressions that are undone here. The codecs refuse any other. */
const compressions: readonly Compression[] = [{ ...compressionGzip, decompress: decompressGzip }, compressionBrotli];

/** How the body is compressed, by the header of its protocol. Undefined: it is not, or in a way that the codecs refuse. */
export function compressionOf(headers: IncomingHttpHeaders): Compression | undefined {
  const type = headers['content-type'] ?? '';
  const header = /^application\/grpc/i.test(type)
    ? 'grpc-encoding'
    : isEnveloped(headers)
      ? 'connect-content-encoding'
      : 'content-encoding';
  return compressions.find(({ name }) => name === headers[header]);
}

/**
 * @param body as `limitBody` passes it on: with a length prefix before each message, messages arrive whole
 * @returns the body with its messages uncompressed. Throws resource_exhausted, invalid_argument
 */
export function checkMessages(
  body: AsyncIterable<Uint8Array>,
  headers: IncomingHttpHeaders,
  checks: MessageChecks,
): AsyncIterable<Uint8Array> {
  const checker = new Checker(checks, compressionOf(headers));
  if (!isEnveloped(headers)) return whole(body, checker);
  return eachEnvelope(checks.isSummed === true ? undamaged(body, checks.path) : body, checker);
}

/** A length or a flag that makes no sense is damaged, too. */
async function* undamaged(body: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch (caught) {
    const isNonsense = caught instanceof ConnectError && caught.code === Code.InvalidArgument;
    throw isNonsense ? toConnectError(damagedMessage(path)) : caught;
  }
}

async function* whole(body: AsyncIterable<Uint8Array>, checker: Checker): AsyncGenerator<Uint8Array, void> {
  const pieces = new Pieces();
  for await (const chunk of body) pieces.add(chunk);
  const sent = pieces.joined();
  if (sent.length === 0) return checker.requireComplete();
  const message = await checker.decompressed(sent);
  checker.check(message);
  yield message;
}

async function* eachEnvelope(body: AsyncIterable<Uint8Array>, checker: Checker): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    /** Where that begins which was checked but not passed on. */
    let from = 0;
    let at = 0;
    while (at + prefixBytes <= chunk.length) {
      const flags = chunk[at] ?? 0;
      const start = at + prefixBytes;
      const end = start + lengthIn(chunk, at);
      // The body ends within this message, which the codec refuses.
      if (end > chunk.length) {
        checker.refuseDamaged();
        break;
      }
      const bytes = chunk.subarray(start, end);
      if (flags !== 0) checker.refuseDamaged();
      if ((flags & ~compressedFlag) !== 0) requireShortEnd(bytes);
      else if ((flags & compressedFlag) !== 0 && checker.compression !== undefined) {
        if (from < at) yield chunk.subarray(from, at);
        const message = await checker.decompressed(bytes);
        checker.check(message);
        yield prefixOf(message);
        yield message;
        from = end;
      } else checker.check(bytes);
      at = end;
      if (checker.isTurnOver()) {
        if (from < at) yield chunk.subarray(from, at);
        from = at;
        await nextTurn();
      }
    }
    if (at < chunk.length) checker.refuseDamaged();
    if (from < chunk.length) yield chunk.subarray(from);
  }
  checker.requireComplete();
}

class Checker {
  readonly compression: Compression | undefined;
  readonly #checks: MessageChecks;
  readonly #sums: MessageChecksums | undefined;
  #messages = 0;
  #inTurn = 0;

  constructor(checks: MessageChecks, compression: Compression | undefined) {
    this.#checks = checks;
    this.#sums = checks.isSummed === true ? new MessageChecksums() : undefined;
    this.compression = compression;
  }

  async decompressed(bytes: Uint8Array): Promise<Uint8Array> {
    if (this.compression === undefined) return bytes;
    const { maxMessageBytes } = this.#checks;
    try {
      return await this.compression.decompress(bytes, maxMessageBytes);
    } catch (caught) {
      const isTooLarge = caught instanceof ConnectError && caught.code === Code.ResourceExhausted;
      throw isTooLarge ? toConnectError(messageTooLarge(maxMessageBytes, 'more after decompression')) : caught;
    }
  }

  /** With checksums, only damage is a reason for a body that ends within a message, or for flags. @throws ConnectError aborted */
  refuseDamaged(): void {
    if (this.#sums !== undefined) throw toConnectError(damagedMessage(this.#checks.path));
  }

  /** With checksums, the body ends with the message that its sender gave as the last one. @throws ConnectError aborted */
  requireComplete(): void {
    if (this.#sums?.isComplete === false) this.refuseDamaged();
  }

  /** @throws ConnectError aborted, resource_exhausted */
  check(bytes: Uint8Array): void {
    if (this.#sums?.accepts(bytes) === false) this.refuseDamaged();
    const { path, type, limits, isJson } = this.#checks;
    this.#messages += 1;
    try {
      if (this.#messages > limits.maxMessages)
        throw exhausted(`${path}: expected at most ${limits.maxMessages} messages in one stream, found more`);
      if (isJson && bytes.length > limits.maxJsonBytes)
        throw exhausted(
          `${path}: expected a request message of at most ${limits.maxJsonBytes} bytes in JSON, found ${bytes.length}: send it in binary, or split it into several`,
        );
      requireFewElements(path, type, { bytes, isJson }, limits.maxElements);
    } catch (caught) {
      throw caught instanceof PlatformError ? toConnectError(caught) : caught;
    }
  }

  isTurnOver(): boolean {
    this.#inTurn += 1;
    if (this.#inTurn < messagesPerTurn) return false;
    this.#inTurn = 0;
    return true;
  }
}

function exhausted(text: string): PlatformError {
  return resourceExhausted(text);
}

function requireShortEnd({ length }: Uint8Array): void {
  if (length > maxEndBytes) throw toConnectError(messageTooLarge(maxEndBytes, `${length} at the end of the stream`));
}

function lengthIn(chunk: Uint8Array, at: number): number {
  return new DataView(chunk.buffer, chunk.byteOffset + at).getUint32(1);
}

function prefixOf({ length }: Uint8Array): Uint8Array {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(length, 1);
  return prefix;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
