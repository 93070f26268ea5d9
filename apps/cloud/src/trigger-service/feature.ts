/**
 * TriggerService: shows the status of triggers and the results of their notifications, and tests them. Triggers decide (triggers/), the
 * outbox sends (outbox/).
 */
import type { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import type { CloudHandlers } from '../access/principal.ts';
import { type DeliveriesRpcDeps, deliveriesHandlers } from './deliveries-rpc.ts';
import { type DryRunRpcDeps, dryRunHandlers } from './dry-run-rpc.ts';
import { type HistoryRpcDeps, historyHandlers } from './history-rpc.ts';
import { type RetryRpcDeps, retryHandlers } from './retry-rpc.ts';
import { type TargetsRpcDeps, targetsHandlers } from './targets-rpc.ts';
import { type TestTriggerRpcDeps, testTriggerHandlers } from './test-trigger-rpc.ts';
import { type TriggersRpcDeps, triggersHandlers } from './triggers-rpc.ts';

export type TriggerServiceDeps = TriggersRpcDeps &
  HistoryRpcDeps &
  DeliveriesRpcDeps &
  RetryRpcDeps &
  TargetsRpcDeps &
  DryRunRpcDeps &
  TestTriggerRpcDeps;

export function triggerHandlers(deps: TriggerServiceDeps): CloudHandlers<typeof TriggerService> {
  return {
    ...triggersHandlers(deps),
    ...historyHandlers(deps),
    ...deliveriesHandlers(deps),
    ...retryHandlers(deps),
    ...targetsHandlers(deps),
    ...dryRunHandlers(deps),
    ...testTriggerHandlers(deps),
  };
}
