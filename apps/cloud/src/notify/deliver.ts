/**
 * The delivery loop: takes what is due, at most 64 at a time and 4 to one target, so that a target that hangs holds up
 * only itself. What is being sent is known to this process only: after a kill the rows are due and are sent again
 * under the same id, so each message goes out at least once.
 */

import { type Clock, errorText, type Follower, follow, type Log } from '@platform/base';
import { reportedFault } from '@platform/rpc/server';
import type { Kysely } from 'kysely';
import type { TriggerEvent } from './event.ts';
import { type FailedNotification, failureLine, type MachineLogLine } from './failure-line.ts';
import { createRecorder, type Recorder } from './record-attempt.ts';
import type { Attempt, OutgoingRequest } from './send-webhook.ts';
import { sign } from './sign.ts';
import type { NotifyMessageRow, NotifyTables } from './store.ts';
import { webhookRequest } from './webhook-request.ts';

export interface DeliveryOptions {
  readonly db: Kysely<NotifyTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signingSecret: (organizationId: string) => Promise<string | undefined>;
  readonly appendMachineLog: (partId: string, line: MachineLogLine) => Promise<void>;
  readonly version: string;
  readonly send: (request: OutgoingRequest, signal: AbortSignal) => Promise<Attempt>;
}

export interface Delivery extends AsyncDisposable {
  start(): void;
  wake(): void;
  resume(organizationId: string, target: string): Promise<void>;
}

const maxInFlight = 64;
const maxPerTarget = 4;
/** What is under way at a stop may end within this, so that a restart does not send it twice. */
const stopGraceMs = 1_000;

export function createDelivery(options: DeliveryOptions): Delivery {
  return new DeliveryLoop(options);
}

type Due = Pick<NotifyMessageRow, 'id' | 'organization_id' | 'target'>;

class DeliveryLoop implements Delivery {
  readonly #options: DeliveryOptions;
  readonly #recorder: Recorder;
  readonly #inFlight = new Map<string, Promise<void>>();
  /** Requests under way to each target. */
  readonly #sending = new Map<string, number>();
  readonly #stop = new AbortController();
  #follower: Follower | null = null;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#recorder = createRecorder(options);
  }

  start(): void {
    const { clock, log } = this.#options;
    this.#follower = follow({ name: 'notifications: deliver', step: () => this.#claim(), clock, log });
  }

  wake(): void {
    this.#follower?.wake();
  }

  async resume(organizationId: string, target: string): Promise<void> {
    await this.#recorder.resume(organizationId, target);
    this.wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#follower?.[Symbol.asyncDispose]();
    const ended = new AbortController();
    const all = Promise.all(this.#inFlight.values()).finally(() => ended.abort());
    await this.#options.clock.sleep(stopGraceMs, ended.signal).catch(() => {});
    this.#stop.abort();
    await all;
  }

  /** Starts what is due and has room. True: another look may find more. */
  async #claim(): Promise<boolean> {
    const free = maxInFlight - this.#inFlight.size;
    if (free <= 0) return false;
    await this.#recorder.load();
    const claimed: Due[] = [];
    let again = false;
    for (const due of await this.#due(free + this.#inFlight.size)) {
      if (this.#inFlight.has(due.id)) continue;
      if (claimed.length >= free) break;
      if (this.#recorder.isPaused(due.organization_id, due.target)) {
        await this.#recorder.pause(due.organization_id, due.target, 'answered 410 Gone');
        again = true;
      } else if ((this.#sending.get(due.target) ?? 0) < maxPerTarget) {
        this.#sending.set(due.target, (this.#sending.get(due.target) ?? 0) + 1);
        claimed.push(due);
      } else {
        // Its siblings filled the answer; the next look leaves this target out.
        again = true;
      }
    }
    for (const due of claimed) this.#begin(due);
    return again;
  }

  #due(limit: number): Promise<Due[]> {
    const { db, clock } = this.#options;
    const saturated = [...this.#sending].filter(([, count]) => count >= maxPerTarget).map(([target]) => target);
    let query = db
      .selectFrom('notify_messages')
      .select(['id', 'organization_id', 'target'])
      .where('state', '=', 'pending')
      .where('next_attempt_at', '<=', clock.now())
      .orderBy('next_attempt_at')
      .limit(limit);
    if (saturated.length > 0) query = query.where('target', 'not in', saturated);
    return query.execute();
  }

  #begin(due: Due): void {
    let sending = true;
    const sent = (): void => {
      if (!sending) return;
      sending = false;
      const left = (this.#sending.get(due.target) ?? 1) - 1;
      if (left > 0) this.#sending.set(due.target, left);
      else this.#sending.delete(due.target);
      this.wake();
    };
    const done = this.#deliver(due.id, sent)
      .catch((caught) => {
        if (!this.#stop.signal.aborted) {
          this.#options.log.error('a delivery was not recorded', { messageId: due.id, error: errorText(caught) });
        }
      })
      .finally(() => {
        sent();
        this.#inFlight.delete(due.id);
        this.wake();
      });
    this.#inFlight.set(due.id, done);
  }

  /** @param sent called when the target is done with it: the next may go there while this one is recorded. */
  async #deliver(id: string, sent: () => void): Promise<void> {
    const { clock, log, db, appendMachineLog } = this.#options;
    const row = await db.selectFrom('notify_messages').selectAll().where('id', '=', id).executeTakeFirst();
    const atMs = clock.now();
    // Between the look and now it may have been paused, or tried: an attempt may be recorded while a look finds it due.
    if (row?.state !== 'pending' || row.next_attempt_at > atMs) return;
    const event = readEvent(row);
    const secret = await this.#secretOf(row.organization_id);
    if (secret === undefined) return this.#recorder.cancel(row.id);
    const attempt = await this.#attempt(row, event, secret, atMs);
    const recorded = this.#recorder.judge(row, attempt);
    sent();
    const failedFinally = recorded.state === 'failed';
    if (attempt.outcome !== 'accepted' && (row.attempts === 0 || failedFinally)) {
      // Before the record: after a kill in between the message is sent again, and this line is written again.
      const line = failureLine({ ...describe(row, event), error: recorded.error, ...codeOf(attempt) });
      await appendMachineLog(row.part_id, line).catch((caught) => {
        log.error('a failed notification could not be written to the machine logs', {
          partId: row.part_id,
          messageId: row.id,
          error: errorText(caught),
        });
      });
    }
    await this.#recorder.record(row, atMs, attempt, recorded, this.#stop.signal);
  }

  /** Undefined: the organization is gone. An error: the secret cannot be had now. */
  async #secretOf(organizationId: string): Promise<string | Error | undefined> {
    try {
      return await this.#options.signingSecret(organizationId);
    } catch (caught) {
      return caught instanceof Error ? caught : new Error(String(caught));
    }
  }

  async #attempt(
    row: NotifyMessageRow,
    event: TriggerEvent | undefined,
    secret: string | Error,
    atMs: number,
  ): Promise<Attempt> {
    const { version } = this.#options;
    if (event === undefined) return { outcome: 'rejected', durationMs: 0, error: 'the stored event cannot be read' };
    let request: OutgoingRequest;
    try {
      const { method, headers, body } = webhookRequest(event);
      const timestamp = Math.floor(atMs / 1_000);
      if (secret instanceof Error) throw secret;
      const signature = sign(secret, row.id, timestamp, body);
      request = {
        url: row.target,
        method,
        body,
        headers: {
          ...headers,
          'User-Agent': `platform/${version}`,
          'webhook-id': row.id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signature,
          ...(method === 'POST' && { 'Content-Length': String(Buffer.byteLength(body)) }),
          ...(row.authorization !== null && { Authorization: row.authorization }),
        },
      };
    } catch (caught) {
      // The record of the attempt is for the members of the organization (D37).
      const { message } = reportedFault(caught, { method: `message ${row.id}` }, this.#options.log);
      return { outcome: 'retryLater', durationMs: 0, error: `the request could not be made: ${message}` };
    }
    return this.#options.send(request, this.#stop.signal);
  }
}

function codeOf(attempt: Attempt): { code?: number } {
  return attempt.code === undefined ? {} : { code: attempt.code };
}

/** undefined: the row is damaged; the message must still come to an end. */
function readEvent(row: NotifyMessageRow): TriggerEvent | undefined {
  try {
    return JSON.parse(row.event);
  } catch {
    return undefined;
  }
}

function describe(row: NotifyMessageRow, event: TriggerEvent | undefined): Omit<FailedNotification, 'error' | 'code'> {
  return {
    triggerName: row.trigger_name,
    triggerType: row.trigger_type,
    notificationType: row.notification_type,
    target: row.target,
    partId: row.part_id,
    messageId: row.id,
    ...(event?.data && { componentName: event.data.componentName, methodName: event.data.methodName }),
  };
}
