/** The answer to `GET /restart_status`: whether a restart now would interrupt something. */
import type { Clock } from '@platform/base';
import { maintenanceOf } from '@platform/machine-config/robot-config';
import { formatResourceName } from '@platform/resources';
import { holdReason } from '../../config/hold-reason.ts';
import type { Graph } from '../../graph/graph.ts';
import type { MachineFacts } from '../machine-rpc.ts';
import type { Operations } from '../operations.ts';

/** In the format of public agents, which ask before they update or restart the server. */
export interface RestartStatus {
  readonly restart_allowed: boolean;
  /** Whether the server itself asks the cloud whether to restart. */
  readonly does_not_handle_needs_restart: false;
  /** One sentence for each reason against a restart. */
  readonly reasons: readonly string[];
}

export interface RestartStatusDeps {
  readonly graph: Graph;
  readonly operations: Operations;
  readonly facts: () => MachineFacts;
  readonly clock: Clock;
}

/** Reads the sensor of the maintenance window, if the running configuration has one (D9). */
export async function restartStatus({ graph, operations, facts, clock }: RestartStatusDeps): Promise<RestartStatus> {
  const { running, config } = facts();
  const reasons: string[] = [];
  const building = graph.status().filter(({ state }) => state === 'configuring' || state === 'removing');
  if (!running) reasons.push('the server is starting');
  else if (building.length > 0)
    reasons.push(
      `the configuration is being applied: ${building.map((each) => formatResourceName(each.config)).join(', ')}`,
    );
  for (const { method, id } of operations.all.filter(({ moves }) => moves))
    reasons.push(`something is being moved: ${method} (operation ${id})`);
  const window = await holdReason(graph, maintenanceOf(config), clock);
  if (window !== undefined) reasons.push(`the maintenance window is closed: ${window}`);
  return { restart_allowed: reasons.length === 0, does_not_handle_needs_restart: false, reasons };
}
