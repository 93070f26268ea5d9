/**
 * Follows the ingest log: reads rows after the cursor, decides, and moves cursor, messages and throttle in one
 * transaction (I11), so that each upload is decided once whatever ends the process in between.
 *
 * Rows that cause nothing move the cursor in memory; it is written at most 250 ms later, because deciding them again is
 * harmless and a sync for each upload is not. A row that cannot be read is recorded and passed; a database or
 * configuration that cannot be read stops the follower, which tries again and never skips.
 */
import { setImmediate } from 'node:timers/promises';
import { asPlatformError, type Clock, type Log } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { IngestLog, LogRow } from '../ingest/log.ts';
import type { Message } from '../notify/event.ts';
import type { NotifyTables } from '../notify/store.ts';
import { type CompiledTriggers, createCompiledTriggers, type PartTriggers } from './compiled-triggers.ts';
import { decide } from './decide.ts';
import { readUpload } from './read-upload.ts';
import {
  type DamagedRow,
  loadStarts,
  loadThrottles,
  moveCursor,
  openCursor,
  saveDamaged,
  saveThrottles,
} from './state.ts';
import type { TriggersTables } from './store.ts';
import type { Throttles } from './throttle.ts';
import type { Trigger } from './trigger.ts';

export interface LogFollowerOptions {
  readonly db: Kysely<TriggersTables & NotifyTables>;
  readonly ingestLog: Pick<IngestLog, 'follow' | 'lastPosition' | 'onCommit' | 'noteLoss'>;
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  readonly notify: {
    enqueue(trx: Transaction<NotifyTables>, messages: readonly Message[]): Promise<void>;
    wake(): void;
  };
  readonly clock: Clock;
  readonly log: Log;
}

/** Bounds of one step, and with it of one transaction. */
const maxRows = 256;
const maxBytes = 8 * 1024 * 1024;
const maxMessages = 200;
/** A step gives way after this, so that it never holds up the process's other work for long. */
const maxStepMs = 10;
const cursorWriteMs = 250;

export interface LogFollower {
  /** Reads the cursor; before the first step. */
  open(): Promise<void>;
  /** Decides the next rows; true: there may be more. */
  step(): Promise<boolean>;
  /** Writes the cursor if it is ahead of the table. */
  flush(): Promise<void>;
  /** Decided up to here, perhaps not durably. */
  position(): number;
}

export function createLogFollower(options: LogFollowerOptions): LogFollower {
  return new LogSteps(options);
}

/** Catching up without a single wait would leave the process deaf. */
const letOthersRun = (): Promise<void> => setImmediate();

interface Effects {
  readonly messages: Message[];
  readonly damaged: DamagedRow[];
  throttles: Throttles | null;
}

class LogSteps implements LogFollower {
  readonly #options: LogFollowerOptions;
  readonly #compiled: CompiledTriggers;
  #position = 0;
  #writtenPosition = 0;
  #writtenAtMs = 0;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
    this.#compiled = createCompiledTriggers(options);
  }

  async open(): Promise<void> {
    this.#position = await openCursor(this.#options.db);
    this.#writtenPosition = this.#position;
  }

  position(): number {
    return this.#position;
  }

  async step(): Promise<boolean> {
    const { ingestLog, clock, db, notify } = this.#options;
    const rows = await ingestLog.follow(this.#position, { rows: maxRows, bytes: maxBytes });
    for (const { damage } of rows) if (damage !== undefined) await ingestLog.noteLoss('triggers', damage);
    const due = clock.monotonic() - this.#writtenAtMs >= cursorWriteMs;
    const last = rows.at(-1);
    if (last === undefined) {
      if (due) await this.flush();
      return false;
    }
    const sound = rows.filter(({ damage }) => damage === undefined);
    const triggersOf = await this.#compiled.of(sound.map(({ partId }) => partId));
    if (triggersOf.size === 0 && !due) {
      this.#position = last.position;
      await letOthersRun();
      return true;
    }
    const { effects, position } = await this.#decideRows(rows, triggersOf);
    const { messages, damaged, throttles } = effects;
    if (messages.length > 0 || damaged.length > 0 || due) {
      await db.transaction().execute(async (trx) => {
        await moveCursor(trx, this.#writtenPosition, position);
        if (messages.length > 0) await notify.enqueue(trx, messages);
        if (throttles) await saveThrottles(trx, throttles.changes());
        await saveDamaged(trx, damaged);
      });
      this.#wrote(position);
      if (messages.length > 0) notify.wake();
    } else {
      await letOthersRun();
    }
    this.#position = position;
    return true;
  }

  async flush(): Promise<void> {
    const { db } = this.#options;
    const position = this.#position;
    if (position === this.#writtenPosition) return;
    await db.transaction().execute((trx) => moveCursor(trx, this.#writtenPosition, position));
    this.#wrote(position);
  }

  #wrote(position: number): void {
    this.#writtenPosition = position;
    this.#writtenAtMs = this.#options.clock.monotonic();
  }

  /** Decides rows in order until the step is full, and says how far it came. */
  async #decideRows(
    rows: readonly LogRow[],
    triggersOf: ReadonlyMap<string, readonly Trigger[]>,
  ): Promise<{ effects: Effects; position: number }> {
    const { clock, db } = this.#options;
    const effects: Effects = { messages: [], damaged: [], throttles: null };
    let position = this.#position;
    const parts = [...triggersOf.keys()];
    const starts = await loadStarts(db, parts);
    const throttles = await loadThrottles(db, parts);
    effects.throttles = throttles;
    const startedAtMs = clock.monotonic();
    for (const row of rows) {
      const triggers = triggersOf.get(row.partId)?.filter(({ name }) => row.position > starts(row.partId, name)) ?? [];
      if (triggers.length > 0 && row.damage === undefined) this.#decideRow(row, triggers, throttles, effects);
      position = row.position;
      if (effects.messages.length >= maxMessages || clock.monotonic() - startedAtMs >= maxStepMs) break;
    }
    return { effects, position };
  }

  #decideRow(row: LogRow, triggers: readonly Trigger[], throttles: Throttles, effects: Effects): void {
    const { clock, log } = this.#options;
    const damage = (triggerName: string, reason: string): void => {
      effects.damaged.push({ position: row.position, triggerName, partId: row.partId, reason, atMs: clock.now() });
      log.error('an upload could not be decided; it is recorded and passed', {
        position: row.position,
        partId: row.partId,
        trigger: triggerName,
        reason,
      });
    };
    try {
      const upload = readUpload(row.batch);
      const at = upload.syncedAtMs;
      const { messages, notified, damaged } = decide(row, upload, triggers, (key, intervalMs) =>
        throttles.isThrottled(key, at, intervalMs),
      );
      effects.messages.push(...messages);
      for (const key of notified) throttles.set(key, at);
      for (const { triggerName, reason } of damaged) damage(triggerName, reason);
    } catch (caught) {
      damage('', asPlatformError(caught).message);
    }
  }
}
