/** What `platform up` shows, for two forms: readable text and one JSON object a line. */

/** The cloud's `ready` line. `key` comes on a first start only; `signInLink` is for this start, once. */
export interface Ready {
  readonly url: string;
  readonly organizationId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly partId: string;
  readonly keyId: string;
  readonly key?: string;
  readonly signInLink?: string;
  /** SHA-256 of the installation's own authority, which signs its certificate. */
  readonly caFingerprint?: string;
  /** Why the demo does not run; the cloud does. */
  readonly demoProblem?: string;
}

/** A row of a query; times are Dates. */
export type Row = Readonly<Record<string, unknown>>;

export interface ShownQuery {
  readonly language: 'mql' | 'sql';
  /** The stages of a pipeline, or the text of a statement. */
  readonly query: unknown;
  readonly rows: readonly Row[];
}

/** A webhook as the built-in test inbox received it. */
export interface ShownWebhook {
  /** Counts from 1 in each run of the cloud. */
  readonly id: number;
  /** RFC 3339. */
  readonly receivedAt: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Flow {
  readonly readingsPerSecond: number;
  readonly webhooks: number;
}

export interface Output {
  ready(ready: Ready, dataDir: string, demo: boolean): void;
  reading(row: Row): void;
  query(query: ShownQuery): void;
  webhook(webhook: ShownWebhook): void;
  /** What flows now; a line that replaces itself, or nothing. */
  status(flow: Flow): void;
  /** A line that a started process logged. */
  logged(process: string, line: string): void;
  /** Why it, or the demo alone, cannot go on; a sentence with the last lines of the process that ended. */
  failed(message: string, lines: readonly string[]): void;
  stopping(): void;
  stopped(): void;
}
