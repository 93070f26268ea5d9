/** A trigger as parsed: complete and checked. */

import type { EventPlace, TriggerEvent } from '../outbox/event.ts';
import type { ReadUpload } from './read-upload.ts';

export interface Notification {
  readonly type: 'webhook' | 'email' | 'push';
  /** Webhook URL, e-mail address, or `all_machine_owners`. */
  readonly value: string;
  /** Least time between two of them, in time of the events; 0: each event notifies. */
  readonly intervalMs: number;
  readonly basicAuth?: { readonly username: string; readonly password: string };
  /** Application id, for push. */
  readonly application?: string;
}

/** The `event` of a trigger, as its kind parsed it. */
export interface TriggerEventRule {
  readonly type: string;
  /** What an upload causes, if anything. Absent: uploads cause nothing. */
  readonly ofUpload?: (upload: ReadUpload, place: EventPlace) => TriggerEvent | undefined;
}

export interface Trigger {
  /** Unique in its part. */
  readonly name: string;
  readonly enabled: boolean;
  readonly event: TriggerEventRule;
  readonly notifications: readonly Notification[];
}
