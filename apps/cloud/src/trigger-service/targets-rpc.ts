/** TriggerService: targets to which nothing is sent at present. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, failedPrecondition } from '@platform/base';
import type { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { audit, type Caller } from '../access/audit.ts';
import type { Access } from '../access/authorize.ts';
import type { CloudHandlers } from '../access/principal.ts';
import type { Database, DatabaseTransaction } from '../metadata/tables.ts';
import { isKnownTarget, type PausedTarget, pausedTargets } from '../outbox/deliveries/paused-targets.ts';
import { withoutSecrets } from '../outbox/failure-line.ts';
import type { Outbox } from '../outbox/feature.ts';
import { describeTriggers } from '../triggers/describe-triggers.ts';
import { refused } from './request-fields.ts';
import { allParts, type TriggersRpcDeps } from './triggers-rpc.ts';

export interface TargetsRpcDeps extends Pick<TriggersRpcDeps, 'tree' | 'registry' | 'configOf'> {
  readonly db: Database;
  readonly access: Pick<Access, 'authorize'>;
  readonly outbox: Pick<Outbox, 'pause' | 'resume'>;
  readonly clock: Pick<Clock, 'now'>;
}

const maxReasonLength = 200;

export function targetsHandlers(deps: TargetsRpcDeps): CloudHandlers<typeof TriggerService> {
  const { db, access, outbox, clock } = deps;
  const audited = (call: Caller, operation: string, organizationId: string, target: string) => (trx: unknown) =>
    audit(
      trx as DatabaseTransaction,
      ...([call, clock.now(), operation] as const),
      ['organization', organizationId, organizationId],
      { target: withoutSecrets(target) },
    );

  return {
    async listPausedTargets({ organizationId }, call) {
      access.authorize(call.principal, 'organization.read', organizationId);
      return { targets: (await pausedTargets(db, organizationId)).map(targetMessage) };
    },
    async pauseTarget({ organizationId, target: asked, reason }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      if (reason.length > maxReasonLength)
        throw refused('PauseTarget', 'reason', `at most ${maxReasonLength} characters`, String(reason.length));
      const target = await configuredTarget(deps, organizationId, asked);
      const text = reason === '' ? 'paused by an owner of the organization' : reason;
      await outbox.pause(
        organizationId,
        target,
        text,
        audited(call, 'TriggerService.PauseTarget', organizationId, target),
      );
      const paused = (await pausedTargets(db, organizationId)).find((one) => one.target === target);
      return { ...(paused && { target: targetMessage(paused) }) };
    },
    async resumeTarget({ organizationId, target: asked }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      const paused = await pausedTargets(db, organizationId);
      const target = targetNamed('ResumeTarget', asked, new Set(paused.map((one) => one.target)));
      if (target === undefined)
        throw failedPrecondition(
          `ResumeTarget: expected a target that is paused, found ${quoted(asked)}; ListPausedTargets lists those that are`,
        );
      await outbox.resume(organizationId, target, audited(call, 'TriggerService.ResumeTarget', organizationId, target));
      return { deliveries: paused.find((one) => one.target === target)?.waiting ?? 0 };
    },
  };
}

/** A target that a trigger of the organization has or had: pausing any other would have no effect. */
async function configuredTarget(deps: TargetsRpcDeps, organizationId: string, asked: string): Promise<string> {
  if (await isKnownTarget(deps.db, organizationId, asked)) return asked;
  const targets = new Set<string>();
  for (const partId of allParts(deps, organizationId)) {
    const config = await deps.configOf(partId);
    if (config === undefined || config.triggers.length === 0) continue;
    for (const { notifications } of describeTriggers(config)) for (const { value } of notifications) targets.add(value);
  }
  const target = targetNamed('PauseTarget', asked, targets);
  if (target !== undefined) return target;
  throw refused('PauseTarget', 'target', 'the target of a trigger of the organization, as configured', quoted(asked));
}

/** The target with this name, or with this displayed form. @throws invalid_argument if several have the same displayed form */
function targetNamed(operation: string, asked: string, targets: ReadonlySet<string>): string | undefined {
  if (targets.has(asked)) return asked;
  const [found, ...others] = [...targets].filter((one) => withoutSecrets(one) === asked);
  if (others.length === 0) return found;
  throw refused(operation, 'target', 'the whole target as configured, because several begin like this', quoted(asked));
}

function targetMessage({ target, pausedAtMs, reason, waiting }: PausedTarget) {
  return { target: withoutSecrets(target), pausedAt: timestampFromMs(pausedAtMs), reason, waiting };
}

/** Without the parts that may be secret. */
function quoted(target: string): string {
  return JSON.stringify(withoutSecrets(target).slice(0, 200));
}
