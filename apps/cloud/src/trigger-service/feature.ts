/** TriggerService: shows how triggers do and what became of their notifications. Triggers decide (triggers/), the outbox sends (outbox/). */
import type { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import { type DeliveriesRpcDeps, deliveriesHandlers } from './deliveries-rpc.ts';
import { type TriggersRpcDeps, triggersHandlers } from './triggers-rpc.ts';

export type TriggerServiceDeps = TriggersRpcDeps & DeliveriesRpcDeps;

export function triggerHandlers(deps: TriggerServiceDeps): Handlers<typeof TriggerService, Principal> {
  return { ...triggersHandlers(deps), ...deliveriesHandlers(deps) };
}
