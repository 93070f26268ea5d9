/** The built-in webhook catcher: a target on this very server that shows what webhooks look like, without the internet. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Clock } from '@platform/base';

export interface CaughtRequest {
  /** 1, 2, … since the start of the process. */
  readonly id: number;
  /** Wall clock ms with fractions, when its headers arrived. */
  readonly receivedAt: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface CatcherOptions {
  readonly clock: Clock;
  /** May this request read what was caught? */
  readonly authorize: (request: IncomingMessage | Http2ServerRequest) => Promise<boolean>;
  /** Requests kept. Default 1,000. */
  readonly maxRequests?: number;
  /** Larger bodies are refused with 413. Default 1 MiB. */
  readonly maxBodyBytes?: number;
}

export interface Catcher {
  /** Answers requests below /catcher/ and says so; false: not ours. */
  handle(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): boolean;
  requests(after: number): readonly CaughtRequest[];
  onRequest(listener: (request: CaughtRequest) => void): Disposable;
}

export type CreateCatcher = (options: CatcherOptions) => Catcher;
