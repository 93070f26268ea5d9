/** Runs a bound method for a call: API names arrive in canonical form and leave in the peer's; nothing outlives the call's signal. */
import { create, type DescMessage, type Message, type MessageInitShape } from '@bufbuild/protobuf';
import { canonicalise, inVocabulary } from '../edge/translate-message.ts';
import type { Answer, BoundMethod } from './binding.ts';
import type { Call } from './call.ts';
import { foreseenFault, undeliveredFault } from './faults.ts';
import { orAborted, untilAborted } from './until-aborted.ts';

type OneRequest<P> = Extract<BoundMethod<P>, { kind: 'unary' | 'server_streaming' }>;
type ManyRequests<P> = Extract<BoundMethod<P>, { kind: 'client_streaming' | 'bidi_streaming' }>;

export async function answerUnary<P>(
  bound: Extract<OneRequest<P>, { kind: 'unary' }>,
  request: Message,
  call: Call<P>,
): Promise<Message> {
  const answer = Promise.resolve(bound.handler(canonicalise(bound.method.input, request), call));
  return respond(bound.method.output, await orAborted(answer, call.signal), call);
}

export async function answerClientStream<P>(
  bound: Extract<ManyRequests<P>, { kind: 'client_streaming' }>,
  requests: AsyncIterable<Message>,
  call: Call<P>,
): Promise<Message> {
  const answer = bound.handler(received(bound.method.input, requests, call), call);
  return respond(bound.method.output, await orAborted(Promise.resolve(answer), call.signal), call);
}

export function answerServerStream<P>(
  bound: Extract<OneRequest<P>, { kind: 'server_streaming' }>,
  request: Message,
  call: Call<P>,
): AsyncGenerator<Message, void> {
  return delivered(bound, bound.handler(canonicalise(bound.method.input, request), call), call);
}

export function answerBidi<P>(
  bound: Extract<ManyRequests<P>, { kind: 'bidi_streaming' }>,
  requests: AsyncIterable<Message>,
  call: Call<P>,
): AsyncGenerator<Message, void> {
  return delivered(bound, bound.handler(received(bound.method.input, requests, call), call), call);
}

/** The answers of a stream. The writer throws its errors into this generator, so that methods need not expect them. */
async function* delivered<P>(
  { method }: BoundMethod<P>,
  answers: AsyncIterable<MessageInitShape<DescMessage>>,
  call: Call<P>,
): AsyncGenerator<Message, void> {
  for await (const answer of untilAborted(answers, call.signal)) {
    const message = respond(method.output, answer, call);
    try {
      yield message;
    } catch (caught) {
      throw undeliveredFault(caught, call);
    }
  }
}

export function respond(output: DescMessage, answer: Answer<DescMessage>, call: Call): Message {
  return inVocabulary(call.vocabulary, output, create(output, answer ?? undefined));
}

/** Request messages as a handler sees them. A codec's rejection, a cut by the client and the end of the call reach it as PlatformErrors. */
async function* received(
  input: DescMessage,
  requests: AsyncIterable<Message>,
  call: Call,
): AsyncGenerator<Message, void> {
  try {
    for await (const request of untilAborted(requests, call.signal)) yield canonicalise(input, request);
  } catch (caught) {
    throw foreseenFault(caught, call) ?? caught;
  }
}
