import type { Log, LogFields } from '@platform/base';

const everyMs = 60_000;
/** How many messages are remembered. */
const maxMessages = 100;

/** Writes the same message at most once a minute, whatever its fields. */
export class LimitedLog {
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #writtenMs = new Map<string, number>();

  constructor(log: Log, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  write(level: 'warn' | 'error', message: string, fields: LogFields = {}): void {
    const now = this.#nowMs();
    if (now - (this.#writtenMs.get(message) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
    if (this.#writtenMs.size >= maxMessages) this.#writtenMs.clear();
    this.#writtenMs.set(message, now);
    this.#log[level](message, fields);
  }
}
