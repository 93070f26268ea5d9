/** The port of the outbox: a channel delivers messages of one kind to their targets. */
import type { OutboxMessageRow } from './store.ts';

/** The answer of a target. */
interface Answer {
  /** HTTP or SMTP status, if one came back. */
  readonly code?: number;
  /** At most 4 KiB of the answer, recorded with the attempt. Channels must not put secrets into it. */
  readonly response?: string;
}

interface Refusal extends Answer {
  /** For people; recorded and logged. Channels must not put secrets into it. */
  readonly error: string;
}

/** The result of an attempt. */
export type SendResult =
  | ({ readonly outcome: 'accepted' } & Answer)
  /** Must not be tried again. */
  | ({
      readonly outcome: 'rejected';
      /** The target accepts nothing more from this organization until it is resumed. Default false. */
      readonly isTargetGone?: boolean;
    } & Refusal)
  | ({
      readonly outcome: 'retryLater';
      /** The wait that the target asked for. */
      readonly retryAfterMs?: number;
    } & Refusal);

export interface Failures {
  /** Attempts made so far: 1, 2, … */
  readonly attempts: number;
  /** Time since the message was enqueued. */
  readonly ageMs: number;
  readonly retryAfterMs: number | undefined;
}

export interface Channel extends Disposable {
  /** How many messages it sends at a time. Each channel has its own limit, so none waits for the targets of another. */
  readonly maxInFlight: number;
  /** How many of them go to one target, so that a target that hangs delays only its own messages. */
  readonly maxPerTarget: number;
  /**
   * Reports every outcome caused by the target or the network as a result. Throws only for unexpected errors, after which it is retried,
   * and when the signal is aborted.
   */
  send(message: OutboxMessageRow, signal: AbortSignal): Promise<SendResult>;
  /** Milliseconds until the next attempt; undefined: there is none. */
  waitMs(failures: Failures): number | undefined;
}

/** The channels of an installation. A channel that is not configured is absent: its messages wait. */
export type Channels = Readonly<Partial<Record<OutboxMessageRow['channel'], Channel>>>;
