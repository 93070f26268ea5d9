/** A parsed trigger: complete and valid. */
import type { Steps } from '@platform/base';
import type { Prefilter } from '@platform/conditions';
import type { TriggerEvent } from '../outbox/event.ts';
import type { Keys } from '../reading-codec/key-filter.ts';
import type { TriggerInput } from './input.ts';

export interface Notification {
  readonly type: 'webhook' | 'email' | 'push';
  /** Webhook URL, e-mail address, or `all_machine_owners`. */
  readonly value: string;
  /** Minimum interval between two notifications, in event time; 0: each event notifies. */
  readonly intervalMs: number;
  readonly basicAuth?: { readonly username: string; readonly password: string };
  /** Application id, for push. */
  readonly application?: string;
}

/** State that a rule keeps: JSON. Each kind defines its own. */
export type RuleState = Readonly<Record<string, unknown>>;

/** Something that the trigger reports. */
export interface Occurrence {
  /** Identifies it among the occurrences of its trigger; part of the ids of its messages. */
  readonly cause: readonly (string | number)[];
  readonly atMs: number;
  /** Human-readable. */
  readonly reason: string;
  /**
   * A trigger with states reports each change, for each of its subjects (a component, a key; empty: there is only one). Absent: the trigger
   * has no states, and each occurrence is independent.
   */
  readonly change?: { readonly to: 'firing' | 'recovered'; readonly subject: string };
  /** Built only if it is sent. */
  readonly event: () => TriggerEvent;
}

export interface RuleStep {
  readonly state: RuleState;
  readonly occurrences: readonly Occurrence[];
}

/** Which stored readings a trigger needs, so that a dry run can omit the rest. */
export interface StoredNeeds {
  /** False: uploads of its kind are not stored as readings. */
  readonly areReadings: boolean;
  /** Absent: readings of all methods. */
  readonly methodNames?: readonly string[];
  /** Keys of the readings; undefined: all. `none`: their content does not matter. */
  readonly keys: Keys | 'none' | undefined;
  /** Readings that do not meet it change nothing. Absent: any reading may. */
  readonly only?: Prefilter;
}

/** The `event` of a trigger, as parsed by its kind. Pure. */
export interface TriggerEventRule {
  readonly type: string;
  /** The uploads that it reacts to: of one component or of all. Absent: none. */
  readonly uploads?: 'all' | { readonly componentName: string };
  /** The transitions of the part that it reacts to. */
  readonly transitions?: 'online' | 'offline';
  /** What a dry run must read of stored uploads; only together with `uploads`. */
  readonly stored?: StoredNeeds;
  /** The timed input that it needs. Absent: none. */
  readonly timed?: 'time' | 'logs' | 'facts';
  /**
   * Processes the next input; one of another kind changes nothing. In steps where an upload may take long (D48).
   *
   * @throws PlatformError if a reading is damaged
   */
  readonly next: (
    state: RuleState,
    input: TriggerInput,
    trigger: Pick<Trigger, 'name' | 'notifications'>,
  ) => RuleStep | Steps<RuleStep>;
  /**
   * When it needs a `timed` input: by the wall clock in ms; 0: now; undefined: not before its state changes.
   *
   * @param nowMs a later time in the state means that the clock has been set back since. Default: no such time occurs
   */
  readonly dueMs?: (state: RuleState, nowMs?: number) => number | undefined;
  /** Log levels that it checks (`logs`). */
  readonly logLevels?: readonly string[];
}

export interface Trigger {
  /** Unique within its part. */
  readonly name: string;
  readonly enabled: boolean;
  readonly event: TriggerEventRule;
  readonly notifications: readonly Notification[];
}
