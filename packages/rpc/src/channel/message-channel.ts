/** What calls over WebRTC need of a data channel, the same for both sides and for every engine. */

/** One ordered, reliable channel of whole messages. It keeps messages until `onMessage` is set. */
export interface MessageChannel {
  /**
   * Called with each message, in order. Messages of up to 64 KiB arrive whole. Before it is set, at most 1 MiB is kept. If it throws, the
   * channel ends.
   */
  onMessage: ((message: Uint8Array) => void) | undefined;
  /**
   * Queues a message of at most 64 KiB, which must not be changed afterwards. Without effect once the channel has ended. A sender that lets
   * more than 64 MiB wait ends the channel (resource_exhausted).
   *
   * @throws RangeError if it is longer
   */
  send(message: Uint8Array): void;
  /** Bytes that `send` has queued and that were not sent yet. */
  readonly bufferedBytes: number;
  /** Resolves once fewer than 1 MiB wait to be sent, or the channel has ended. */
  drained(): Promise<void>;
  /** Aborts when the channel has ended, by either side or a lost connection; the reason is a PlatformError. */
  readonly ended: AbortSignal;
  /** Ends the channel and its connection. */
  close(): void;
}
