/** What the port knows about a request and the codecs do not; travels beside it as a context value. */
import { type ContextKey, createContextKey } from '@connectrpc/connect';
import type { Vocabulary } from '../edge/api-names.ts';

export interface RequestContext {
  readonly peerAddress: string;
  readonly vocabulary: Vocabulary;
  /** Tells the client at once that its call is taken, with these headers; what is said later follows them. */
  readonly sendHeaders: (headers: Headers) => void;
}

export const requestContextKey: ContextKey<RequestContext> = createContextKey<RequestContext>(
  { peerAddress: '', vocabulary: 'core', sendHeaders: () => {} },
  { description: 'how the request arrived' },
);
