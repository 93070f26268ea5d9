/**
 * Decides which messages the rows of the ingest log cause. Messages and throttles are written together with the cursor (I11). A database or
 * configuration that cannot be read fails the step, which is then retried. A trigger that cannot be evaluated for an upload is recorded.
 */
import { asPlatformError, type ClockAndLog, finishAll, getOrInsert, runInTurns, type Steps } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { Processed } from '../follow-log/follow-log.ts';
import type { LogCursorsTables } from '../follow-log/store.ts';
import type { LogRow } from '../ingest/log/log.ts';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import type { Message } from '../outbox/event.ts';
import type { OutboxTables, OutboxTransaction } from '../outbox/store.ts';
import type { CompiledTriggers, PartRules } from './compiled-triggers.ts';
import { evaluateInSteps } from './evaluate.ts';
import { TriggerHistory, type TriggerPlace } from './history/trigger-history.ts';
import type { UploadInput } from './input.ts';
import { messagesOf } from './messages-of.ts';
import { readUpload } from './read-upload.ts';
import { StoredTriggers, saveUndecided, type Undecided } from './state.ts';
import type { TriggersTables } from './store.ts';
import type { Trigger } from './trigger.ts';

export type DecidedTables = TriggersTables & OutboxTables & LogCursorsTables;

export interface DecideRowsDeps extends ClockAndLog {
  readonly db: Kysely<DecidedTables>;
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  readonly outbox: {
    enqueue(trx: OutboxTransaction, messages: readonly Message[]): Promise<unknown>;
    wake(): void;
  };
}

/** Timed checks depend on state that uploads change, and on their arrival. */
export interface UploadListener {
  stateChanged(partId: string): void;
  arrived(partId: string, upload: UploadInput): void;
}

/** Messages per transaction. */
const maxMessages = 200;
/** A step yields after this time, so that it does not block other work of the process for long. */
const maxStepMs = 10;

/** An upload, and the triggers that react to it. */
interface Candidate {
  readonly row: LogRow;
  readonly upload: UploadInput;
  readonly triggers: readonly Trigger[];
}

interface Opened {
  readonly candidates: readonly Candidate[];
  readonly damaged: readonly { readonly row: LogRow; readonly reason: string }[];
  /** Position of the last row that was opened; undefined: all were opened. */
  readonly upTo: number | undefined;
}

export function createDecideRows(
  options: DecideRowsDeps & { readonly compiled: CompiledTriggers; readonly listener: UploadListener },
): (rows: readonly LogRow[]) => Promise<Processed<DecidedTables>> {
  const { db, outbox, clock, log, compiled, listener } = options;

  const rulesOf = async (rows: readonly LogRow[]): Promise<ReadonlyMap<string, PartRules>> => {
    const found = new Map<string, PartRules>();
    for (const partId of new Set(rows.map((row) => row.partId))) {
      const rules = await compiled.of(partId);
      if (rules !== undefined) found.set(partId, rules);
    }
    return found;
  };

  const open = (rows: readonly LogRow[], rules: ReadonlyMap<string, PartRules>): Opened => {
    const candidates: Candidate[] = [];
    const damaged: { row: LogRow; reason: string }[] = [];
    const startedAtMs = clock.monotonic();
    for (const row of rows) {
      const ofPart = rules.get(row.partId);
      if (ofPart !== undefined) {
        try {
          const upload = readUpload(row);
          const triggers = ofPart.ofUpload(upload);
          if (triggers.length > 0) candidates.push({ row, upload, triggers });
        } catch (caught) {
          damaged.push({ row, reason: asPlatformError(caught).message });
        }
      }
      if (clock.monotonic() - startedAtMs >= maxStepMs) return { candidates, damaged, upTo: row.position };
    }
    return { candidates, damaged, upTo: undefined };
  };

  const decide = function* (
    { row, upload, triggers }: Candidate,
    stored: StoredTriggers,
    effects: Effects,
  ): Steps<void> {
    const { position, partId } = row;
    for (const trigger of triggers) {
      if (position <= stored.startOf(partId, trigger.name)) continue;
      if (trigger.event.timed === 'facts') listener.arrived(partId, upload);
      try {
        const { state, decisions } = yield* evaluateInSteps(trigger, stored.of(partId, trigger.name), upload);
        const messages = decisions.flatMap((decision) => messagesOf(partId, trigger, decision));
        effects.messages.push(...messages);
        for (const decision of decisions) effects.history.decided(placeOf(upload, trigger), decision);
        if (trigger.event.timed !== undefined && state !== stored.of(partId, trigger.name))
          listener.stateChanged(partId);
        stored.set(partId, trigger.name, state);
      } catch (caught) {
        const reason = asPlatformError(caught).message;
        effects.undecided.push({ position, triggerName: trigger.name, partId, reason, atMs: clock.now() });
        effects.history.failed(placeOf(upload, trigger), upload.atMs, reason);
        log.error('an upload could not be processed; it is recorded and skipped', {
          ...{ position, partId, trigger: trigger.name, reason },
        });
      }
    }
  };

  return async (rows) => {
    const rules = await rulesOf(rows);
    if (rules.size === 0) return {};
    const { candidates, damaged, upTo: openedTo } = open(rows, rules);
    let upTo = openedTo;
    const rest = upTo === undefined ? {} : { upTo };
    if (candidates.length === 0) return { ...rest, damaged };
    const stored = await StoredTriggers.load(db, namesIn(candidates));
    const effects: Effects = { messages: [], undecided: [], history: new TriggerHistory() };
    const startedAtMs = clock.monotonic();
    for (const candidate of candidates) {
      await runInTurns(decide(candidate, stored, effects));
      if (effects.messages.length < maxMessages && clock.monotonic() - startedAtMs < maxStepMs) continue;
      upTo = candidate.row.position;
      break;
    }
    const { messages, undecided, history } = effects;
    return {
      ...(upTo !== undefined && { upTo }),
      damaged: damaged.filter(({ row }) => upTo === undefined || row.position <= upTo),
      ...((messages.length > 0 || !history.isEmpty || stored.hasChanged) && {
        async write(trx: Transaction<DecidedTables>) {
          await finishAll([
            outbox.enqueue(trx, messages),
            stored.save(trx),
            saveUndecided(trx, undecided),
            history.save(trx),
          ]);
        },
      }),
      ...(messages.length > 0 && { written: () => outbox.wake() }),
    };
  };
}

interface Effects {
  readonly messages: Message[];
  readonly undecided: Undecided[];
  readonly history: TriggerHistory;
}

function placeOf({ place }: UploadInput, { name }: Trigger): TriggerPlace {
  return { organizationId: place.organizationId, partId: place.partId, triggerName: name };
}

function namesIn(candidates: readonly Candidate[]): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const { row, triggers } of candidates) {
    const ofPart = getOrInsert(names, row.partId, () => new Set());
    for (const { name } of triggers) ofPart.add(name);
  }
  return names;
}
