/** A trigger as parsed: complete, checked, frozen. */
import type { TriggerType } from '../notify/event.ts';

export type DataTypeName = 'binary' | 'tabular' | 'file' | 'unspecified';

export interface Notification {
  readonly type: 'webhook' | 'email' | 'push';
  /** Webhook URL, e-mail address, or `all_machine_owners`. */
  readonly value: string;
  /** 0: each event notifies. */
  readonly intervalMs: number;
  readonly basicAuth?: { readonly username: string; readonly password: string };
  readonly application?: string;
}

export interface Trigger {
  readonly name: string;
  readonly type: TriggerType;
  readonly enabled: boolean;
  readonly notifications: readonly Notification[];
}
