/** What `platform up` shows, in two forms: readable text, and one JSON object per line. */

/** The cloud's `ready` line. `key` is present on the first start only; `signInLink` works once, for this start. */
export interface Ready {
  readonly url: string;
  readonly organizationId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly machineName: string;
  readonly partId: string;
  readonly keyId: string;
  readonly key?: string;
  readonly signInLink?: string;
  /** SHA-256 of the installation's own authority, which signs its certificate. */
  readonly caFingerprint?: string;
  /** Why the demo cannot run although the cloud does. */
  readonly demoProblem?: string;
  /** The copy that was made before this start upgraded the data. */
  readonly safetyCopy?: string;
}

/** A row of a query result; times are Dates. */
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

/** The streams of an output. */
export interface Streams {
  /** To standard output. */
  readonly write: (text: string) => void;
  /** To standard error. */
  readonly complain: (text: string) => void;
}

export interface Output {
  ready(ready: Ready, dataDir: string, demo: boolean): void;
  reading(row: Row): void;
  /** After a later start, in place of the first query and webhook: readings arrive again. @param stored readings in the cloud */
  resumed(stored: number): void;
  query(query: ShownQuery): void;
  webhook(webhook: ShownWebhook): void;
  /** The current rates: a line that is overwritten, or nothing. */
  status(flow: Flow): void;
  /** A line that a started process logged. */
  logged(process: string, line: string): void;
  /** The cloud ended by itself. @param how a sentence without its full stop @param pauseMs until it is restarted; 0: it ended on request */
  cloudEnded(how: string, pauseMs: number, lines: readonly string[]): void;
  /** The cloud was restarted and serves again, at the same address. */
  readyAgain(ready: Ready): void;
  /** Why `up`, or only the demo, cannot continue: a sentence and the last lines of the process that ended. */
  failed(message: string, lines: readonly string[]): void;
  stopping(): void;
  stopped(): void;
}

/** What is shown when a process ended and is restarted. @param how see `cloudEnded` */
export function restartSentence(how: string, pauseMs: number): string {
  return pauseMs === 0 ? `${how}. Restarting it.` : `${how}. Restarting it in ${pauseMs / 1_000} s. Its last lines:`;
}
