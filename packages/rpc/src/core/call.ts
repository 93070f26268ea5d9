/** The call core: the form into which every transport (gRPC, gRPC-Web, Connect, REST) turns a request before a handler sees it. */
import type { Vocabulary } from '../edge/api-names.ts';

/** One call in progress, the same for every transport. */
export interface Call<P = unknown> {
  /** Canonical path: `/platform.app.v1.AppService/ListOrganizations`, whatever alias the peer used (D2). */
  readonly method: string;
  /** Request headers; keys in lower case, without the transport's own framing semantics. */
  readonly metadata: Headers;
  /** `address:port` of the peer; empty if its socket is already gone. */
  readonly peerAddress: string;
  /** How this peer spells API names. Handlers see and return `core`; they need this only for text that they build themselves. */
  readonly vocabulary: Vocabulary;
  /** Aborts when the client disconnects, the deadline passes, the server shuts down, or the call ends. */
  readonly signal: AbortSignal;
  /** Wall clock, ms since 1970; undefined when the client set no deadline. */
  readonly deadline: number | undefined;
  /** What `authenticate` returned. Reading it in a method listed as `open` throws INTERNAL. */
  readonly principal: P;
  /** Sent before the first response message. */
  readonly responseHeaders: Headers;
  /** Sent after the last response message. */
  readonly responseTrailers: Headers;
  /**
   * For a handler that is about to return or throw: calls `listener` once with whether its answer was delivered. True: it was written, and
   * its stream ended without a reset. False: the client left, the connection broke, or the call had ended before the answer.
   */
  onAnswered(listener: AnswerListener): void;
}

export type AnswerListener = (isDelivered: boolean) => void;
