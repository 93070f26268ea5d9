/** What the port knows about a request but the codecs do not; passed along as a context value. */
import { type ContextKey, createContextKey } from '@connectrpc/connect';
import type { AnswerListener } from '../core/call.ts';
import type { Vocabulary } from '../edge/api-names.ts';

export interface RequestContext {
  readonly peerAddress: string;
  readonly vocabulary: Vocabulary;
  /** Tells the client at once that its call was accepted, with these headers; messages follow later. */
  readonly sendHeaders: (headers: Headers) => void;
  readonly onAnswered: (listener: AnswerListener) => void;
}

export const requestContextKey: ContextKey<RequestContext> = createContextKey<RequestContext>(
  { peerAddress: '', vocabulary: 'core', sendHeaders: () => {}, onAnswered: (listener) => listener(false) },
  { description: 'how the request arrived' },
);
