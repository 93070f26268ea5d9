/** What the port knows about a request and the codecs do not; travels beside it as a context value. */
import { type ContextKey, createContextKey } from '@connectrpc/connect';
import type { Vocabulary } from '../edge/api-names.ts';

export interface Arrival {
  readonly peerAddress: string;
  readonly vocabulary: Vocabulary;
}

export const arrivalKey: ContextKey<Arrival> = createContextKey<Arrival>(
  { peerAddress: '', vocabulary: 'core' },
  { description: 'how the request arrived' },
);
