/** TriggerService: sends one notification of a trigger as a test, through the outbox and its checks. */
import { randomUUID } from 'node:crypto';
import { invalidArgument, notFound, resourceExhausted } from '@platform/base';
import type { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { audit } from '../access/audit.ts';
import type { CloudHandlers } from '../access/principal.ts';
import type { Database } from '../metadata/tables.ts';
import { readDelivery } from '../outbox/deliveries/list-deliveries.ts';
import type { Message } from '../outbox/event.ts';
import { withoutSecrets } from '../outbox/failure-line.ts';
import type { Outbox } from '../outbox/feature.ts';
import { messageId } from '../outbox/message-id.ts';
import { parseTriggers } from '../triggers/parsing/parse-triggers.ts';
import { sampleEvent } from '../triggers/sample-event.ts';
import type { Trigger } from '../triggers/trigger.ts';
import { createBuckets } from './buckets.ts';
import { deliveryMessages } from './deliveries-rpc.ts';
import { type DraftDeps, namesOf } from './dry-run-rpc.ts';

export interface TestTriggerRpcDeps extends DraftDeps {
  readonly db: Database;
  readonly outbox: Pick<Outbox, 'enqueue' | 'wake' | 'tried' | 'obstacleOf'>;
}

/** Tests of an organization: this many at once, and then one per interval (ms). No one can use them to flood a target. */
const limit = { most: 30, everyMs: 6_000 } as const;

/** Clients wait 20 s for an answer; an attempt takes at most 15 s. */
const maxWaitMs = 17_000;

export function testTriggerHandlers(deps: TestTriggerRpcDeps): CloudHandlers<typeof TriggerService> {
  const { access, clock, db, outbox, placeOf } = deps;
  /** Returns when each was tried, or after the time limit. */
  const outcomesOf = async (organizationId: string, ids: readonly string[], signal: AbortSignal) => {
    const late = new AbortController();
    using _limit = clock.after(maxWaitMs, () => late.abort());
    await outbox.tried(ids, AbortSignal.any([signal, late.signal])).catch(() => signal.throwIfAborted());
    const tried = await Promise.all(ids.map((id) => readDelivery(db, id, [organizationId])));
    return await deliveryMessages(
      deps,
      organizationId,
      tried.filter((one) => one !== undefined),
    );
  };
  const buckets = createBuckets(clock, limit);
  return {
    async testTrigger({ partId, trigger: asked, notification: index }, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', partId);
      const place = placeOf(partId);
      if (place === undefined) throw notFound(`part ${partId} was deleted`);
      const { trigger, raw } = await triggerOf(deps, partId, asked);
      const notification = trigger.notifications[index];
      if (notification === undefined)
        throw invalidArgument(
          `TestTrigger: notification: expected the index of one of the ${trigger.notifications.length} that the trigger has, from 0, found ${index}`,
        );
      const waitMs = buckets.take(organizationId);
      if (waitMs > 0)
        throw resourceExhausted(
          `TestTrigger: expected at most ${limit.most} tests in ${(limit.most * limit.everyMs) / 1_000} s, found more: try again in ${Math.ceil(waitMs / 1_000)} s`,
        );
      const nowMs = clock.now();
      const message: Message = {
        id: messageId(['test', randomUUID()]),
        triggerName: trigger.name,
        channel: notification.type,
        target: notification.value,
        ...(notification.application !== undefined && { application: notification.application }),
        ...(notification.basicAuth && { basicAuth: notification.basicAuth }),
        event: sampleEvent(trigger, raw, place, nowMs),
        eventAtMs: nowMs,
      };
      const deliveryIds = await db.transaction().execute(async (trx) => {
        const ids = await outbox.enqueue(trx, [message]);
        const detail = { trigger: trigger.name, channel: message.channel, target: withoutSecrets(message.target) };
        await audit(trx, call, nowMs, 'TriggerService.TestTrigger', ['part', partId, organizationId], detail);
        return ids;
      });
      outbox.wake();
      const deliveries = await outcomesOf(organizationId, deliveryIds, call.signal);
      return { deliveryIds: [...deliveryIds], deliveries };
    },
  };
}

type Asked = { readonly case: 'name'; readonly value: string } | { readonly case: 'draft'; readonly value: unknown };

/** With its configured form. @throws invalid_argument if it does not exist, or could not be saved */
async function triggerOf(
  { configOf, triggersIfSaved }: DraftDeps,
  partId: string,
  asked: Asked | { readonly case: undefined },
): Promise<{ trigger: Trigger; raw: unknown }> {
  if (asked.case === undefined) throw invalidArgument('TestTrigger: expected name or draft, found none');
  if (asked.case === 'draft') {
    const { config, problems } = await triggersIfSaved(partId, [asked.value]);
    const error = problems.find(({ level }) => level === 'error');
    if (error !== undefined) throw invalidArgument(`TestTrigger: ${error.path}: ${error.message}`);
    const [trigger] = parseTriggers(config.triggers, config.components).triggers;
    if (trigger !== undefined) return { trigger, raw: config.triggers[0] };
    throw invalidArgument('TestTrigger: draft: expected a trigger, found none');
  }
  const config = await configOf(partId);
  const triggers = config?.triggers ?? [];
  const known = parseTriggers(triggers, config?.components ?? []).triggers;
  const trigger = known.find(({ name }) => name === asked.value);
  const raw = triggers.find((one) => (one as { name?: unknown } | null)?.name === asked.value);
  if (trigger !== undefined) return { trigger, raw };
  throw invalidArgument(
    `TestTrigger: name: expected the name of a trigger without errors (${namesOf(known)}), found "${asked.value.slice(0, 100)}"`,
  );
}
