/** A trigger as parsed: complete and checked. */

export type DataTypeName = 'binary' | 'tabular' | 'file' | 'unspecified';
export type LogLevelName = 'error' | 'warn' | 'info';

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

/** Finds the first reading that meets the condition. */
export interface ReadingCondition {
  /** @param data a reading's document, as plain values. */
  readonly meets: (data: Readonly<Record<string, unknown>>) => boolean;
}

export type TriggerEventRule =
  | { readonly type: 'part_data_ingested'; readonly dataTypes: ReadonlySet<DataTypeName> }
  | {
      readonly type: 'conditional_data_ingested';
      /** Whether an upload comes from the linked component and method. */
      readonly isFrom: (source: UploadSource) => boolean;
      /** Absent: every upload fires. */
      readonly condition?: ReadingCondition;
      /** The `conditional` object as configured. */
      readonly configured: unknown;
    }
  | { readonly type: 'part_online' | 'part_offline' }
  | { readonly type: 'conditional_logs_ingested'; readonly logLevels: ReadonlySet<LogLevelName> };

export interface UploadSource {
  /** `core:component:sensor` */
  readonly componentType: string;
  readonly componentName: string;
  readonly methodName: string;
}

export interface Trigger {
  /** Unique in its part. */
  readonly name: string;
  readonly enabled: boolean;
  readonly event: TriggerEventRule;
  readonly notifications: readonly Notification[];
}
