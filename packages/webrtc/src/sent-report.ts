/** Tells how many bytes have left the queue of a data channel, which calls back when it has shrunk to a threshold. */

/** Below this many bytes in the queue, what was sent is reported; then again when it is empty. */
const lowBytes = 256 << 10;

export interface QueueOfChannel {
  bufferedAmount(): number;
  setThreshold(bytes: number): void;
}

export interface SentReport {
  /** Call it before a message is sent. */
  sending(bytes: number): void;
  /** Call it after a message was sent, and when the queue has shrunk to the threshold. */
  report(): void;
}

/** @param onSent bytes that have left since the last call */
export function createSentReport(queue: QueueOfChannel, onSent: (bytes: number) => void): SentReport {
  let unreported = 0;
  return {
    sending(bytes) {
      unreported += bytes;
    },
    report() {
      const waiting = queue.bufferedAmount();
      const bytes = unreported - waiting;
      unreported = waiting;
      if (bytes > 0) onSent(bytes);
      if (waiting > 0) queue.setThreshold(waiting > lowBytes ? lowBytes : 0);
    },
  };
}
