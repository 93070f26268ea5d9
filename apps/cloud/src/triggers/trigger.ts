/** A parsed trigger: complete and valid. */

import type { EventPlace, TriggerEvent } from '../outbox/event.ts';
import type { ReadUpload } from './read-upload.ts';

export interface Notification {
  readonly type: 'webhook' | 'email' | 'push';
  /** Webhook URL, e-mail address, or `all_machine_owners`. */
  readonly value: string;
  /** Minimum interval between two of them, in event time; 0: each event notifies. */
  readonly intervalMs: number;
  readonly basicAuth?: { readonly username: string; readonly password: string };
  /** Application id, for push. */
  readonly application?: string;
}

/** The `event` of a trigger, as parsed by its kind. */
export interface TriggerEventRule {
  readonly type: string;
  /** The event that an upload causes, if any. Absent: uploads cause none. */
  readonly ofUpload?: (upload: ReadUpload, place: EventPlace) => TriggerEvent | undefined;
}

export interface Trigger {
  /** Unique within its part. */
  readonly name: string;
  readonly enabled: boolean;
  readonly event: TriggerEventRule;
  readonly notifications: readonly Notification[];
}
