/** Streams of calls whose answers are checked before they are decoded, so that no peer can stop this process (D48). */
import type { DescMethod } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import type { UniversalClientFn } from '@connectrpc/connect/protocol';
import { createTransport } from '@connectrpc/connect/protocol-grpc';
import { createNodeHttpClient } from '@connectrpc/connect-node';
import { maxWrapBytes, methodPath } from '../../core/binding.ts';
import { checksumHeader, checksumKind, MessageChecksums } from '../../core/message-checksums.ts';
import { defaultRequestLimits } from '../../core/request-limits.ts';
import { checkMessages } from '../../listener/check-messages.ts';
import { limitEnvelopes } from '../../listener/limit-body.ts';
import { wrapMessages } from '../../listener/wrap-messages.ts';
import type { Session } from '../connection/session.ts';
import { answerTooLarge } from './answer-too-large.ts';
import { keepsEncoded } from './encoded-answers.ts';
import { makeStatusReadable } from './readable-status.ts';
import { redirectOf } from './redirect.ts';

const prefixBytes = 5;
const grpc = { 'content-type': 'application/grpc' };

export interface CheckedStreamsOptions {
  readonly baseUrl: string;
  readonly session: Session;
  /** Maximum bytes of one response message. */
  readonly readMaxBytes: number;
  /** Maximum nesting of messages. */
  readonly recursionLimit: number;
  /** Maximum fields and elements of one response message. */
  readonly maxElements: number;
}

export class CheckedStreams {
  readonly #options: CheckedStreamsOptions;
  readonly #http: UniversalClientFn;
  readonly #transports = new WeakMap<DescMethod, Transport>();

  constructor(options: CheckedStreamsOptions) {
    this.#options = options;
    this.#http = createNodeHttpClient({ httpVersion: '2', sessionProvider: () => options.session });
  }

  readonly stream: Transport['stream'] = (method, ...rest) => {
    const transport = this.#transports.get(method) ?? this.#transportFor(method);
    this.#transports.set(method, transport);
    return transport.stream(method, ...rest);
  };

  /** Connect decodes answers itself, so they are checked while they arrive. */
  #transportFor(method: DescMethod): Transport {
    const { baseUrl, readMaxBytes, recursionLimit } = this.#options;
    const isKept = keepsEncoded(method);
    const maxElements = isKept ? Number.POSITIVE_INFINITY : this.#options.maxElements;
    const checks = {
      ...{ path: methodPath(method), type: method.output, maxMessageBytes: readMaxBytes, isJson: false },
      limits: { ...defaultRequestLimits, maxElements },
    };
    return createTransport({
      ...{ baseUrl, writeMaxBytes: 0xffff_ffff, useBinaryFormat: true, interceptors: [] },
      readMaxBytes: readMaxBytes + (isKept ? maxWrapBytes : 0),
      // Calls are small or already dense; compressing them would cost more than it saves.
      ...{ acceptCompression: [], sendCompression: null, compressMinBytes: 0 },
      binaryOptions: { recursionLimit },
      httpClient: async (request) => {
        const { header, body } = request;
        const isSummed = header.get(checksumHeader) === checksumKind && body !== undefined;
        const answer = await this.#http(isSummed ? { ...request, body: summed(body) } : request);
        const redirect = redirectOf(answer.status, answer.header.get('location'));
        if (redirect !== undefined) throw redirect;
        const whole = limitEnvelopes(answer.body, {
          ...{ flags: 0xff, maxBytes: readMaxBytes, messages: { begun: false } },
          tooLarge: (found) => answerTooLarge(readMaxBytes, found),
        });
        makeStatusReadable(answer.header);
        const checked = checkMessages(whole, grpc, checks);
        return { ...answer, body: thenReadable(isKept ? wrapMessages(checked, grpc) : checked, answer.trailer) };
      },
    });
  }
}

/** @param body each piece is one message with its prefix */
async function* summed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const sums = new MessageChecksums();
  const frameOf = (piece: Uint8Array, isLast: boolean): Uint8Array => {
    const frame = Buffer.concat([piece, sums.next([piece.subarray(prefixBytes)], isLast)]);
    frame.writeUInt32BE(frame.length - prefixBytes, 1);
    return frame;
  };
  let held: Uint8Array | undefined;
  for await (const piece of body) {
    if (held !== undefined) yield frameOf(held, false);
    held = piece;
  }
  if (held !== undefined) yield frameOf(held, true);
}

async function* thenReadable(body: AsyncIterable<Uint8Array>, trailer: Headers): AsyncGenerator<Uint8Array, void> {
  yield* body;
  makeStatusReadable(trailer);
}
