/**
 * The delivery loop of all channels. It takes due messages, within each channel's limits in total and per target, so that a target that
 * hangs delays only its own messages, and no other channel's. Which messages are being sent is known only in memory. After a kill those
 * rows are still due and are sent again with the same id, so each message is sent at least once.
 */
import { type ClockAndLog, errorText, type Follower, follow } from '@platform/base';
import { reportedFault } from '@platform/rpc/server';
import type { Channel, Channels, GatheredMessage, SendResult } from './channel.ts';
import { coalesce } from './coalesce.ts';
import { isEnvelopeRight } from './envelope.ts';
import { failureLine, keptLine, type MachineLogLine } from './failure-line.ts';
import { InFlight } from './in-flight.ts';
import { type Attempt, createRecorder, type ExtraWrites, type Judgement, type Recorder } from './record-attempt.ts';
import { type ChannelName, channelNames, type OutboxDatabase, type OutboxMessageRow } from './store.ts';
import { Backlog, type Due } from './stuck-targets/backlog.ts';
import { Circuits } from './stuck-targets/circuits.ts';
import { giveUp } from './stuck-targets/give-up.ts';

export interface OutboxDeps extends ClockAndLog {
  readonly db: OutboxDatabase;
  readonly channels: Channels;
  /** Messages of an organization that does not exist are cancelled. */
  readonly organizationExists: (organizationId: string) => boolean;
  /** Called after each attempt. */
  readonly observeAttempt?: (channel: ChannelName, outcome: SendResult['outcome'], seconds: number) => void;
  /** Must not reject. */
  readonly appendMachineLog: (partId: string, line: MachineLogLine) => Promise<void>;
}

export type Obstructed = Pick<OutboxMessageRow, 'id' | 'channel' | 'target' | 'urgency'>;

/** Why a message that is pending is not being sent at this moment. Known only in memory. */
export type Obstacle =
  | { readonly kind: 'sending' | 'busy' | 'noChannel' }
  /** The target gets nothing before this time, and then one message as a trial. */
  | { readonly kind: 'failing'; readonly untilMs: number };

/** How long a stop waits for deliveries in progress, so that a restart does not send them twice. */
const stopGraceMs = 1_000;
/** Stores limit the number of values in a statement. */
const maxExcluded = 1_000;

interface ChannelState {
  readonly name: ChannelName;
  /** Only messages about data, or only all others. Absent: both. */
  readonly lane?: 'data' | 'others';
  readonly channel: Channel;
  readonly circuits: Circuits | undefined;
  readonly inFlight: InFlight;
  readonly backlog: Backlog;
}

export class Delivery implements AsyncDisposable {
  readonly #options: OutboxDeps;
  readonly #recorder: Recorder;
  /** Reads the message with an id, together with others. */
  readonly #read: (id: string) => Promise<ReadonlyMap<string, OutboxMessageRow>>;
  readonly #channels: readonly ChannelState[];
  readonly #stop = new AbortController();
  /** Who waits for attempts at which messages. */
  readonly #waiting = new Map<PromiseWithResolvers<void>, ReadonlySet<string>>();
  #follower: Follower | null = null;

  constructor(options: OutboxDeps) {
    this.#options = options;
    this.#recorder = createRecorder(options);
    this.#read = coalesce(async (ids: readonly string[]) => {
      const rows = await options.db.selectFrom('outbox_messages').selectAll().where('id', 'in', ids).execute();
      return new Map(rows.map((row) => [row.id, row]));
    });
    this.#channels = channelNames.flatMap((name) => {
      const channel = options.channels[name];
      if (channel === undefined) return [];
      const circuits = channel.breaksCircuits === true ? new Circuits(() => options.clock.now()) : undefined;
      const lanes = channel.gather === undefined ? [{}] : ([{ lane: 'others' }, { lane: 'data' }] as const);
      return lanes.map((lane) => ({
        ...{ name, channel, circuits, ...lane },
        ...{ inFlight: new InFlight(channel, circuits), backlog: new Backlog(name, options) },
      }));
    });
  }

  start(): void {
    const { clock, log } = this.#options;
    this.#follower = follow({ name: 'outbox: deliver', step: () => this.#claim(), clock, log });
  }

  wake(): void {
    this.#follower?.wake();
  }

  /** Undefined: nothing is known that prevents the message from being sent when it is due. */
  obstacleOf({ id, channel, target, urgency }: Obstructed): Obstacle | undefined {
    const own = urgency === 'data' ? 'data' : 'others';
    const state = this.#channels.find(({ name, lane = own }) => name === channel && lane === own);
    if (state === undefined) return { kind: 'noChannel' };
    if (state.inFlight.has(id)) return { kind: 'sending' };
    const untilMs = state.circuits?.waitsUntilMs(target);
    if (untilMs !== undefined) return { kind: 'failing', untilMs };
    return state.inFlight.hasRoomFor(target) && !state.backlog.targets.has(target) ? undefined : { kind: 'busy' };
  }

  /** Resolves when each of the messages has been tried, or can no longer be. Rejects when the signal is aborted. */
  async tried(ids: readonly string[], signal: AbortSignal): Promise<void> {
    for (;;) {
      const recorded = Promise.withResolvers<void>();
      const stop = (): void => recorded.reject(signal.reason);
      signal.addEventListener('abort', stop);
      this.#waiting.set(recorded, new Set(ids));
      try {
        signal.throwIfAborted();
        const untried = await this.#options.db
          .selectFrom('outbox_messages')
          .select('id')
          .where('id', 'in', ids)
          .where('state', '=', 'pending')
          .whereRef('attempts', '=', 'retried_attempts')
          .execute();
        if (untried.length === 0) return;
        await recorded.promise;
      } finally {
        this.#waiting.delete(recorded);
        signal.removeEventListener('abort', stop);
        recorded.promise.catch(() => {});
      }
    }
  }

  pause(organizationId: string, target: string, reason: string, also?: ExtraWrites): Promise<void> {
    return this.#recorder.pause(organizationId, target, reason, also);
  }

  async resume(organizationId: string, target: string, also?: ExtraWrites): Promise<void> {
    await this.#recorder.resume(organizationId, target, also);
    this.wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#follower?.[Symbol.asyncDispose]();
    const ended = new AbortController();
    const all = Promise.all(this.#channels.map(({ inFlight }) => inFlight.ended())).finally(() => ended.abort());
    await this.#options.clock.sleep(stopGraceMs, ended.signal).catch(() => {});
    this.#stop.abort();
    await all;
  }

  /** Starts due messages within the limits. True: there may be more. */
  async #claim(): Promise<boolean> {
    await this.#recorder.load();
    let again = false;
    for (const state of this.#channels) if (await this.#claimFor(state)) again = true;
    return again;
  }

  async #claimFor(state: ChannelState): Promise<boolean> {
    const { channel, inFlight, backlog } = state;
    const { free } = inFlight;
    if (free <= 0) return false;
    await backlog.load();
    let again = channel.breaksCircuits === true && (await backlog.holdDue(inFlight.withoutRoom()));
    if (await this.#giveUp(state)) again = true;
    const limit = free + inFlight.count;
    const held = await backlog.due((target) => inFlight.hasRoomFor(target), free, limit);
    const claimed: Due[] = [];
    for (const due of [...held, ...(await this.#due(state, limit))]) {
      if (inFlight.has(due.id)) continue;
      if (claimed.length >= free) break;
      if (this.#recorder.isPaused(due.organization_id, due.target)) {
        await this.#recorder.pause(due.organization_id, due.target, 'answered 410 Gone');
        again = true;
      } else if (inFlight.hasRoomFor(due.target)) {
        inFlight.reserve(due.target);
        claimed.push(due);
      } else if (!backlog.targets.has(due.target)) {
        // Messages to this target filled the result. The next query excludes the target.
        again = true;
      }
    }
    for (const due of claimed) this.#begin(state, due);
    return again;
  }

  /** Ends messages that could not be tried for too long. True: there may be more. */
  async #giveUp({ channel, inFlight, backlog }: ChannelState): Promise<boolean> {
    const { longestWaitMs } = channel;
    if (longestWaitMs === undefined) return false;
    const overdue = await backlog.overdue(longestWaitMs, () => inFlight.ids());
    const byBelonging = Map.groupBy(overdue, (one) => this.#belongs(one));
    for (const { id } of byBelonging.get(false) ?? []) await this.#recorder.cancel(id);
    const rest = byBelonging.get(true) ?? [];
    if (rest.length > 0) await giveUp(this.#options, rest, longestWaitMs);
    return overdue.length > 0;
  }

  /** Whether its organization, if it has one, still exists. */
  #belongs({ organization_id: id }: Due): boolean {
    return id === '' || this.#options.organizationExists(id);
  }

  /** Due messages, except held ones and those younger than a held one to the same target. */
  async #due({ name, lane, channel, inFlight, backlog }: ChannelState, limit: number): Promise<Due[]> {
    const { db, clock } = this.#options;
    const excluded = [...new Set([...backlog.targets, ...inFlight.withoutRoom()])].slice(0, maxExcluded);
    let query = db
      .selectFrom('outbox_messages')
      .select(['id', 'organization_id', 'target'])
      .where('channel', '=', name)
      .where('state', '=', 'pending')
      .where('held', '=', 0)
      .where('next_attempt_at', '<=', clock.now())
      .orderBy('next_attempt_at')
      .limit(limit);
    if (excluded.length > 0) query = query.where('target', 'not in', excluded);
    if (lane !== undefined) query = query.where('urgency', lane === 'data' ? '=' : '!=', 'data');
    if (channel.onlyEvents === true) query = query.where('event', '!=', '');
    return (await query.execute()).filter(({ target }) => !backlog.targets.has(target));
  }

  #begin(state: ChannelState, due: Due): void {
    const { inFlight } = state;
    let sending = true;
    const sent = (): void => {
      if (!sending) return;
      sending = false;
      inFlight.release(due.target);
      this.wake();
    };
    const done = this.#deliver(state, due.id, sent)
      .catch((caught) => {
        if (!this.#stop.signal.aborted) {
          this.#options.log.error('a delivery could not be recorded', { messageId: due.id, error: errorText(caught) });
        }
      })
      .finally(sent);
    void inFlight.add(due.id, done).then(() => {
      this.wake();
      for (const [recorded, ids] of this.#waiting) if (ids.has(due.id)) recorded.resolve();
    });
  }

  /** @param sent called when the target has answered: the next message may be sent while this attempt is recorded */
  async #deliver({ channel, circuits }: ChannelState, id: string, sent: () => void): Promise<void> {
    const { clock } = this.#options;
    const row = (await this.#read(id)).get(id);
    // The message may have been paused or tried since the query: its attempt may have been recorded while the query found it due.
    if (row?.state !== 'pending' || row.next_attempt_at > clock.now()) return;
    if (!this.#belongs(row)) return this.#recorder.cancel(row.id);
    if (!isEnvelopeRight(row)) return this.#refuseAltered(row);
    const gathered = (await channel.gather?.(row)) ?? [row];
    if (gathered.length === 0) return;
    const attempt = await this.#attempt(channel, row, gathered);
    if (attempt.result.outcome === 'retryLater') circuits?.failed(row.target);
    else circuits?.succeeded(row.target);
    const judgement = this.#recorder.judge(row, attempt.result, channel.waitMs);
    // Gathered messages stay due until their attempt is recorded.
    if (channel.gather === undefined) sent();
    await this.#tell(row, attempt, judgement);
    if (attempt.result.outcome !== 'retryLater' || gathered.length === 1)
      return await this.#recorder.record(gathered, attempt, judgement, this.#stop.signal);
    await this.#recordEach(channel, row, gathered, attempt);
  }

  /** Notifications that were to be sent together may have waited for different times: those that waited too long are given up. */
  async #recordEach(channel: Channel, row: OutboxMessageRow, gathered: readonly GatheredMessage[], attempt: Attempt) {
    const judged = gathered.map((one) => [one, this.#recorder.judge(one, attempt.result, channel.waitMs)] as const);
    for (const alike of Map.groupBy(judged, ([, { state }]) => state).values()) {
      const [, judgement] = alike.find(([{ id }]) => id === row.id) ?? alike[0] ?? [];
      if (judgement === undefined) continue;
      const ended = judgement.state === 'failed' ? alike.map(([one]) => one).filter(({ id }) => id !== row.id) : [];
      for (const [one] of Map.groupBy(ended, (each) => `${each.part_id} ${each.trigger_name}`).values())
        if (one !== undefined) await this.#tell({ ...row, ...one, event: '' }, attempt, judgement);
      const sent = alike.map(([one]) => one);
      await this.#recorder.record(sent, attempt, judgement, this.#stop.signal);
    }
  }

  /** Nobody is told but the host administrator, and those who list the deliveries: whom it belongs to is not known. */
  async #refuseAltered(row: OutboxMessageRow): Promise<void> {
    const { clock, log } = this.#options;
    const error = `the row of message ${row.id} in outbox_messages was altered: it was not sent`;
    log.error('a message was given up', { messageId: row.id, channel: row.channel, error });
    const attempt: Attempt = { atMs: clock.now(), durationMs: 0, result: { outcome: 'rejected', error } };
    const judgement: Judgement = { state: 'failed', nextAttemptAtMs: clock.now(), error };
    await this.#recorder.record([row], attempt, judgement, this.#stop.signal);
  }

  async #attempt(channel: Channel, row: OutboxMessageRow, gathered: readonly GatheredMessage[]): Promise<Attempt> {
    const { clock, log } = this.#options;
    const [atMs, startedAt] = [clock.now(), clock.monotonic()];
    const result = await channel.send(row, this.#stop.signal, gathered).catch((caught) => {
      this.#stop.signal.throwIfAborted();
      // Members of the organization can read the record of the attempt (D37).
      const { message } = reportedFault(caught, { method: `message ${row.id}` }, log);
      return { outcome: 'retryLater' as const, error: `the message could not be sent: ${message}` };
    });
    const durationMs = clock.monotonic() - startedAt;
    this.#options.observeAttempt?.(row.channel, result.outcome, durationMs / 1_000);
    return { atMs, durationMs: Math.round(durationMs), result };
  }

  /** Called before the attempt is recorded: if the process is killed in between, the message is sent and reported again. */
  async #tell(row: OutboxMessageRow, { result }: Attempt, { state, error, nextAttemptAtMs }: Judgement): Promise<void> {
    const { clock, log, appendMachineLog } = this.#options;
    if (result.outcome === 'accepted') {
      if (result.kept !== undefined && row.part_id !== '')
        await appendMachineLog(row.part_id, keptLine(row, result.kept));
      return;
    }
    const isFinal = state === 'failed';
    if (row.part_id === '') {
      const { id: messageId, channel, event_type: type, target } = row;
      const said = { messageId, channel, type, attempts: row.attempts + 1, error };
      if (isFinal) log.error('a message was given up', { ...said, target });
      else log.warn('a message could not be sent; trying again', { ...said, waitMs: nextAttemptAtMs - clock.now() });
    } else if (row.attempts === 0 || isFinal) {
      await appendMachineLog(row.part_id, failureLine(row, error, result.code));
    }
  }
}
