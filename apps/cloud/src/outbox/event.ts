/** An event as stored in the outbox: enough for any kind of notification, but specific to none. */
import type { ChannelName } from './store.ts';

/** Maximum bytes of JSON in a notification; an event that would exceed it omits its reading (D21). */
export const maxEventBytes: number = 256 * 1024;

/** The account path of the part when the event happened. */
export interface EventPlace {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly locationId: string;
  readonly locationName: string;
  readonly robotId: string;
  readonly robotName: string;
  readonly partId: string;
  readonly partName: string;
}

/** One reading; times are RFC 3339, milliseconds, UTC (D21), or null when the machine sent none. */
export interface EventReading {
  readonly receivedAt: string | null;
  readonly requestedAt: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The data of an upload, for both data types. */
export interface EventData {
  readonly componentName: string;
  readonly componentType: string;
  readonly methodName: string;
  readonly fileId: string;
  readonly minTimeReceived: string;
  readonly maxTimeReceived: string;
  /** Absent for binary data and files. */
  readonly reading?: EventReading;
  /** Least size of the reading as JSON, if it was omitted because no notification could carry it. */
  readonly omittedBytes?: number;
}

export interface EventChange {
  readonly to: 'firing' | 'recovered';
  /** What the change is about, such as a component or the name of a key; empty: the part. */
  readonly subject: string;
  /** RFC 3339, milliseconds, UTC. */
  readonly at: string;
  /** Human-readable. */
  readonly reason: string;
}

export interface TriggerEvent {
  /** The kind of its trigger, such as `part_online`. */
  readonly type: string;
  readonly place: EventPlace;
  readonly data?: EventData;
  /** The `conditional` object as configured (D21). */
  readonly condition?: unknown;
  /** For triggers with states: the new state, and why it changed. */
  readonly change?: EventChange;
  /** Lines of the machine's log (D22), and the number of omitted lines. */
  readonly logs?: { readonly entries: readonly unknown[]; readonly omitted: number };
  /** Someone is testing the notification: nothing has happened. Every notification says so. */
  readonly isTest?: true;
}

/** The event of a stored message. Undefined: its row is damaged; the message must still be finished. */
export function eventOf(text: string): TriggerEvent | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One event for one notification, as enqueued. */
export interface Message {
  /** Made by `messageId`: the same cause gives the same id. */
  readonly id: string;
  readonly triggerName: string;
  readonly channel: ChannelName;
  /** Webhook: the URL. E-mail and push: the address of a person, or `all_machine_owners`, which becomes one message per owner (D19). */
  readonly target: string;
  /** Push: the id of the mobile app. */
  readonly application?: string;
  readonly basicAuth?: { readonly username: string; readonly password: string };
  readonly event: TriggerEvent;
  /** When the event happened, ms. */
  readonly eventAtMs: number;
}
