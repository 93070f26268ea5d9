/** The port of the outbox: a channel carries messages of one kind to their targets. */
import type { OutboxMessageRow } from './store.ts';

/** What a target said. */
interface Answer {
  /** HTTP or SMTP status, if one came back. */
  readonly code?: number;
  /** At most 4 KiB of what came back, recorded with the attempt: no channel puts a secret into it. */
  readonly response?: string;
}

interface Refusal extends Answer {
  /** For people, recorded and logged: no channel puts a secret into it. */
  readonly error: string;
}

/** What came of an attempt. */
export type SendResult =
  | ({ readonly outcome: 'accepted' } & Answer)
  /** Never to be tried again. */
  | ({
      readonly outcome: 'rejected';
      /** The target wants nothing more from this organization until it is resumed. Default false. */
      readonly isTargetGone?: boolean;
    } & Refusal)
  | ({
      readonly outcome: 'retryLater';
      /** What the target asked for. */
      readonly retryAfterMs?: number;
    } & Refusal);

export interface Failures {
  /** Attempts made, of which the last is to be repeated: 1, 2, … */
  readonly attempts: number;
  /** Since the message was enqueued. */
  readonly ageMs: number;
  readonly retryAfterMs: number | undefined;
}

export interface Channel extends Disposable {
  /** How many messages it sends at a time. Each channel has room of its own: none waits for the targets of another. */
  readonly maxInFlight: number;
  /** How many of them go to one target: one that hangs holds up only itself. */
  readonly maxPerTarget: number;
  /** Everything that a target or the network does is a result. Throws the unexpected only, after which it is tried again, and when the signal is aborted. */
  send(message: OutboxMessageRow, signal: AbortSignal): Promise<SendResult>;
  /** Milliseconds until the next attempt; undefined: there is none. */
  waitMs(failures: Failures): number | undefined;
}

/** The channels of an installation. One that is not set up is absent: its messages wait. */
export type Channels = Readonly<Partial<Record<OutboxMessageRow['channel'], Channel>>>;
