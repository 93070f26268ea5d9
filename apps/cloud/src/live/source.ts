/** The content of a subscription. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { UpdateSchema } from '@platform/proto/platform/live/v1/live';
import type { CloudCall, Principal } from '../access/principal.ts';

export type Content = NonNullable<MessageInitShape<typeof UpdateSchema>['content']>;

export interface Reader {
  /** The call of the connection with its current principal. */
  call(): CloudCall;
  /** Aborts when the subscription ends. */
  readonly signal: AbortSignal;
}

export interface Source {
  /** Called before the first content and every 2 s. @throws not_found, permission_denied */
  authorize(principal: Principal): void;
  contents(reader: Reader): AsyncIterable<Content>;
}
