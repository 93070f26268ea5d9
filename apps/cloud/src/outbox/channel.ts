/** The outbox's interface to its channels: a channel delivers messages of one kind to their targets. */
import type { OutboxMessageRow } from './store.ts';

/** The answer of a target. */
interface Answer {
  /** HTTP or SMTP status, if the target returned one. */
  readonly code?: number;
  /** At most 4 KiB of the answer, recorded with the attempt. Channels must not put secrets into it. */
  readonly response?: string;
}

interface Refusal extends Answer {
  /** Human-readable; recorded and logged. Channels must not put secrets into it. */
  readonly error: string;
}

/** The result of an attempt. */
export type SendResult =
  | ({
      readonly outcome: 'accepted';
      /** Why the message went to the test inbox instead of its target; it is then kept, not delivered (D45). Absent: it was sent. */
      readonly kept?: string;
    } & Answer)
  /** Must not be retried. */
  | ({
      readonly outcome: 'rejected';
      /** The target accepts nothing more from this organization until someone resumes it. Default false. */
      readonly isTargetGone?: boolean;
    } & Refusal)
  | ({
      readonly outcome: 'retryLater';
      /** The wait that the target asked for. */
      readonly retryAfterMs?: number;
      /** The target may have accepted it all the same: the next attempt must be the same message (`gather`). Default false. */
      readonly mayBeTaken?: boolean;
    } & Refusal);

/** A message without its content, which may be large, and without what only the loop needs. */
export type GatheredMessage = Omit<OutboxMessageRow, 'event' | 'sealed' | 'held'>;

export interface Failures {
  /** Attempts made so far: 1, 2, … */
  readonly attempts: number;
  /** Time since the message was enqueued. */
  readonly ageMs: number;
  readonly retryAfterMs: number | undefined;
}

export interface Channel extends Disposable {
  /** How many messages the channel sends at a time. Each channel has its own limit, so none waits for the targets of another. */
  readonly maxInFlight: number;
  /** How many of them may go to one target, so that a target that hangs delays only its own messages. */
  readonly maxPerTarget: number;
  /** Whether a target that fails repeatedly gets single attempts at growing intervals (stuck-targets/circuits.ts). Default false. */
  readonly breaksCircuits?: boolean;
  /**
   * A message that has been due for this long without an attempt, because its target had no room, is given up. Only with `breaksCircuits`.
   */
  readonly longestWaitMs?: number;
  /** Only messages with an event are sent; those with sealed content wait. Default false. */
  readonly onlyEvents?: boolean;
  /**
   * Returns the messages to send together; empty: the due one must wait, and its next attempt was set. Absent: each message is sent alone.
   * A channel with `gather` sends one message at a time to a target, and delivers data and all others independently: each with its own
   * `maxInFlight` and `maxPerTarget` (D45).
   */
  readonly gather?: (message: OutboxMessageRow) => Promise<readonly GatheredMessage[]>;
  /**
   * Reports every outcome caused by the target or the network as a result. Throws only for unexpected errors, after which the message is
   * retried, and when the signal is aborted.
   *
   * @param gathered the messages to send together, to the same target as the given one
   */
  send(message: OutboxMessageRow, signal: AbortSignal, gathered: readonly GatheredMessage[]): Promise<SendResult>;
  /** Milliseconds until the next attempt; undefined: there is none. */
  waitMs(failures: Failures): number | undefined;
}

/** The channels of an installation. A channel that is not configured is absent: its messages wait. */
export type Channels = Readonly<Partial<Record<OutboxMessageRow['channel'], Channel>>>;
