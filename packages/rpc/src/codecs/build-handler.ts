/** Makes the handler of a bound method, for gRPC, gRPC-Web, Connect and Connect-JSON. */

import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError, createContextKey, type HandlerContext, type MethodImplSpec } from '@connectrpc/connect';
import { createUniversalMethodHandler, type UniversalHandler } from '@connectrpc/connect/protocol';
import { createHandlerFactory as createConnectFactory } from '@connectrpc/connect/protocol-connect';
import { createHandlerFactory as createGrpcFactory } from '@connectrpc/connect/protocol-grpc';
import { createHandlerFactory as createGrpcWebFactory } from '@connectrpc/connect/protocol-grpc-web';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import { type Clock, PlatformError } from '@platform/base';
import { Admission, type AdmissionOptions, type Authenticate } from '../core/admission.ts';
import { type BoundMethod, maxWrapBytes, type ServiceBinding, takesEncoded } from '../core/binding.ts';
import { decodedMessage } from '../core/encoded-message.ts';
import { isInterpreted } from '../core/errors.ts';
import { maxMessageDepth } from '../core/max-message-depth.ts';
import { answerBidi, answerClientStream, answerServerStream, answerUnary } from '../core/run-call.ts';
import { RunningCall } from '../core/running-call.ts';
import { orAborted } from '../core/until-aborted.ts';
import { jsonTypes, withReadableAnys } from './readable-anys.ts';
import { requestContextKey } from './request-context.ts';
import { blameRequest, decodable } from './unreadable-request.ts';

export interface CodecOptions<P> extends AdmissionOptions<P> {
  services: readonly ServiceBinding<P>[];
  authenticate: Authenticate<P>;
  /** Aborted when calls that are still running must end. */
  shutdownSignal: AbortSignal;
  clock: Clock;
}

/** @returns a function that makes the handler of a method for all protocols */
export function createBuilder<P>(
  options: CodecOptions<P>,
  admission: Admission<P> = new Admission(
    options.services.flatMap(({ methods }) => methods),
    options,
  ),
): (bound: BoundMethod<P>) => UniversalHandler {
  const { clock } = options;
  const callKey = createContextKey<RunningCall<P> | undefined>(undefined, { description: 'the call of the core' });
  const decodedKey = createContextKey<() => void>(() => {}, { description: 'says that the request was decoded' });

  const begin = (context: HandlerContext): RunningCall<P> => {
    const timeoutMs = context.timeoutMs();
    const { peerAddress, vocabulary, onAnswered } = context.values.get(requestContextKey);
    return new RunningCall<P>({
      method: `/${context.service.typeName}/${context.method.name}`,
      metadata: context.requestHeader,
      peerAddress,
      vocabulary,
      signal: context.signal,
      deadline: timeoutMs === undefined ? undefined : clock.now() + timeoutMs,
      responseHeaders: context.responseHeader,
      responseTrailers: context.responseTrailer,
      onAnswered: (listener) => (context.signal.aborted ? listener(false) : onAnswered(listener)),
    });
  };

  /** Runs before a byte of the body is read. */
  const requestGate = async (context: HandlerContext): Promise<void> => {
    const call = begin(context);
    context.values.set(callKey, call);
    hideUnsendable(context, (caught) => admission.hide(caught, call));
    await admission.admit(call, options.authenticate, (promise) => orAborted(promise, call.signal));
    context.values.set(decodedKey, blameRequest(context));
  };

  const callOf = (context: HandlerContext): RunningCall<P> => {
    const call = context.values.get(callKey);
    if (call === undefined) throw new PlatformError('internal', 'a method was reached without passing the gate');
    context.values.get(decodedKey)();
    return call;
  };

  const protocolOptions = {
    acceptCompression: [compressionGzip, compressionBrotli],
    shutdownSignal: options.shutdownSignal,
    requestGate,
    // Ignoring a misspelt field would turn a deletion with a filter into a deletion of everything.
    jsonOptions: { ignoreUnknownFields: false, recursionLimit: maxMessageDepth, registry: jsonTypes },
  };
  const protocolsOf = ({ limits, keepUnknown, method }: BoundMethod<P>) => {
    const maxRequestBytes = limits.maxRequestBytes ?? options.maxMessageBytes;
    const limitedOptions = {
      ...{ ...protocolOptions, readMaxBytes: maxRequestBytes + (takesEncoded(method) ? maxWrapBytes : 0) },
      binaryOptions: { recursionLimit: maxMessageDepth, readUnknownFields: keepUnknown },
    };
    return [
      createGrpcFactory(limitedOptions),
      createGrpcWebFactory(limitedOptions),
      createConnectFactory(limitedOptions),
    ];
  };

  const one = async <T>(context: HandlerContext, answer: (call: RunningCall<P>) => Promise<T>): Promise<T> => {
    const call = callOf(context);
    try {
      return await answer(call);
    } catch (caught) {
      throw admission.interpret(caught, call);
    }
  };
  const many = async function* (
    context: HandlerContext,
    { path, method }: BoundMethod<P>,
    answers: (call: RunningCall<P>) => AsyncIterable<Message>,
  ): AsyncGenerator<Message, void> {
    const call = callOf(context);
    // A stream may be quiet for hours, and clients give up on a response without headers. The headers wait only for a message or error that
    // is available at once.
    setImmediate(() => context.values.get(requestContextKey).sendHeaders(context.responseHeader));
    try {
      if (isJson(context)) for await (const answer of answers(call)) yield decodedMessage(path, method.output, answer);
      else yield* answers(call);
    } catch (caught) {
      throw admission.interpret(caught, call);
    }
  };

  const specOf = (bound: BoundMethod<P>): MethodImplSpec => {
    switch (bound.kind) {
      case 'unary':
        return {
          kind: bound.kind,
          method: bound.method,
          impl: (request, context) =>
            one(context, async (call) => {
              const answer = await answerUnary(bound, request, call);
              if (!isJson(context)) return answer;
              return withReadableAnys(bound.method.output, decodedMessage(bound.path, bound.method.output, answer));
            }),
        };
      case 'client_streaming':
        return {
          kind: bound.kind,
          method: bound.method,
          impl: (requests, context) =>
            one(context, async (call) => {
              const answer = await answerClientStream(bound, decodable(requests, bound.method), call);
              return isJson(context) ? decodedMessage(bound.path, bound.method.output, answer) : answer;
            }),
        };
      case 'server_streaming':
        return {
          kind: bound.kind,
          method: bound.method,
          impl: (request, context) => many(context, bound, (call) => answerServerStream(bound, request, call)),
        };
      case 'bidi_streaming':
        return {
          kind: bound.kind,
          method: bound.method,
          impl: (requests, context) =>
            many(context, bound, (call) => answerBidi(bound, decodable(requests, bound.method), call)),
        };
    }
  };
  return (bound) => createUniversalMethodHandler(specOf(bound), protocolsOf(bound));
}

function isJson({ requestHeader }: HandlerContext): boolean {
  return requestHeader.get('content-type')?.includes('json') === true;
}

/**
 * The reason why an answer cannot be encoded is logged, and the peer does not see it (D37).
 *
 * A codec that fails aborts its call with the error that it is about to send, and reads code and text from it afterwards. Listening to its
 * signal does not suffice: the signal may have been aborted earlier, without a reason.
 *
 * @param context as the gate gets it; methods get a copy.
 */
function hideUnsendable(context: HandlerContext, interpret: (caught: ConnectError) => ConnectError): void {
  const controller = context as HandlerContext & { abort(reason?: unknown): void };
  const { abort } = controller;
  controller.abort = (reason) => {
    abort(reason);
    // A request that does not decode is the client's fault, and no longer INTERNAL.
    if (!(reason instanceof ConnectError) || reason.code !== Code.Internal || isInterpreted(reason)) return;
    const { rawMessage, message } = interpret(reason);
    Object.assign(reason, { rawMessage, message });
  };
}
