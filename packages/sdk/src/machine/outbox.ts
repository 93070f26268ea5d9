/** Requests of a stream that are sent one by one: each waits until the transport has taken the previous one. */

export interface Outbox<T> {
  readonly messages: AsyncGenerator<T, void>;
  /** Resolves once the message is taken, or the stream is over: then whoever reads the answers learns why. */
  send(message: T): Promise<void>;
  /** Nothing more will be sent. */
  end(): void;
}

export function createOutbox<T>(): Outbox<T> {
  const waiting: { readonly message: T; readonly taken: () => void }[] = [];
  let isEnded = false;
  let isOver = false;
  let wake = (): void => {};
  async function* messages(): AsyncGenerator<T, void> {
    try {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          yield next.message;
          next.taken();
        } else if (isEnded) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      isOver = true;
      for (const { taken } of waiting.splice(0)) taken();
    }
  }
  return {
    messages: messages(),
    send: (message) =>
      new Promise((resolve) => {
        if (isEnded || isOver) return resolve();
        waiting.push({ message, taken: resolve });
        wake();
      }),
    end() {
      isEnded = true;
      wake();
    },
  };
}
