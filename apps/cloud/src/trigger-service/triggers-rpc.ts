/** TriggerService: the status of triggers. */
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Problem } from '@platform/base';
import { type TriggerSchema, type TriggerService, TriggerState } from '@platform/proto/platform/app/v1/triggers';
import type { CloudHandlers } from '../access/principal.ts';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import type { Database } from '../metadata/tables.ts';
import { withoutSecrets } from '../outbox/failure-line.ts';
import { partsInTrouble } from '../outbox/target-states.ts';
import { type DescribedTrigger, describeTriggers } from '../triggers/describe-triggers.ts';
import { lastFiredOf } from '../triggers/history/list-history.ts';
import { pushProblems } from '../triggers/parsing/push-problems.ts';
import type { Notification } from '../triggers/trigger.ts';
import { badPageToken } from './request-fields.ts';
import { readScope, type ScopeDeps } from './scope.ts';
import {
  createTargetStates,
  type DescribedTarget,
  stateWith,
  type TargetStatesDeps,
  targetFields,
} from './target-states.ts';

export interface TriggersRpcDeps extends ScopeDeps, Omit<TargetStatesDeps, 'db'> {
  readonly db: Database;
  readonly tree: ScopeDeps['tree'] & { locationsOf(organizationId: string): readonly { readonly id: string }[] };
  readonly registry: ScopeDeps['registry'] & {
    findPlace(
      partId: string,
    ): { readonly robotId: string; readonly robotName: string; readonly partName: string } | undefined;
  };
  /** Undefined: the part does not exist. */
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  /** The application for whose push notifications the organization has uploaded credentials; undefined: none. */
  readonly pushApplicationOf: (organizationId: string) => Promise<string | undefined>;
}

const defaultTriggers = 100;
const maxTriggers = 500;
/** Configurations read for one page, most of which may have no triggers. */
const maxParts = 1_000;

/** A trigger with what happens at each of its targets. */
interface Shown {
  readonly trigger: DescribedTrigger;
  readonly targets: readonly DescribedTarget[];
  readonly state: TriggerState;
}

export function triggersHandlers(deps: TriggersRpcDeps): CloudHandlers<typeof TriggerService> {
  const describe = async (partId: string, organizationId: string): Promise<readonly DescribedTrigger[]> => {
    const config = await deps.configOf(partId);
    if (config === undefined || config.triggers.length === 0) return [];
    return describeTriggers(config, await pushProblems(config, () => deps.pushApplicationOf(organizationId)));
  };

  return {
    async listTriggers(request, call) {
      const scope = readScope(deps, call.principal, request.scope, 'ListTriggers');
      const limit = Math.min(request.limit || defaultTriggers, maxTriggers);
      const after = readToken(request.pageToken);
      const targetsIn = createTargetStates(deps, scope.organizationId);
      const shown = async (partId: string, from: number): Promise<readonly Shown[]> => {
        const named = (await describe(partId, scope.organizationId))
          .slice(from)
          .filter(({ name }) => request.name === '' || name === request.name);
        if (named.length === 0) return [];
        const targets = await targetsIn(partId, named);
        return named
          .map((trigger, index) => ({
            trigger,
            targets: targets[index] ?? [],
            state: stateOf(trigger, targets[index] ?? []),
          }))
          .filter(({ state }) => request.states.length === 0 || request.states.includes(state));
      };
      const inScope = [...(scope.partIds ?? allParts(deps, scope.organizationId))].sort();
      const troubled = request.inTrouble ? await partsInTrouble(deps.db, scope.organizationId) : undefined;
      const partIds = inScope.filter((id) => troubled?.has(id) ?? true);
      const waiting = partIds.filter((id) => id >= (after?.partId ?? ''));
      const triggers: MessageInitShape<typeof TriggerSchema>[] = [];
      for (const [position, partId] of waiting.entries()) {
        const from = partId === after?.partId ? after.index : 0;
        if (position >= maxParts) return { triggers, nextPageToken: token(partId, from) };
        const place = deps.registry.findPlace(partId);
        if (place === undefined) continue;
        const found = await shown(partId, from);
        const lastFired = found.length === 0 ? undefined : await lastFiredOf(deps.db, scope.organizationId, partId);
        for (const one of found) {
          const { name, index } = one.trigger;
          if (triggers.length >= limit) return { triggers, nextPageToken: token(partId, index) };
          triggers.push(messageOf(partId, place, one, lastFired?.get(name)));
        }
      }
      return { triggers, nextPageToken: '' };
    },
  };
}

export function allParts(
  { tree, registry }: Pick<TriggersRpcDeps, 'tree' | 'registry'>,
  organizationId: string,
): string[] {
  return tree
    .locationsOf(organizationId)
    .flatMap(({ id }) => registry.machinesOf(id))
    .flatMap(({ id }) => registry.partsOf(id))
    .map(({ id }) => id);
}

function stateOf({ state }: DescribedTrigger, targets: readonly DescribedTarget[]): TriggerState {
  if (state === 'working') return stateWith(targets);
  return state === 'disabled' ? TriggerState.DISABLED : TriggerState.BROKEN;
}

/** Start of the next page. */
function token(partId: string, index: number): string {
  return `${partId}.${index}`;
}

function readToken(text: string): { readonly partId: string; readonly index: number } | undefined {
  if (text === '') return undefined;
  const [, partId, index] = /^([\w-]{1,64})\.(\d{1,9})$/.exec(text) ?? [];
  if (partId !== undefined && index !== undefined) return { partId, index: Number(index) };
  throw badPageToken('ListTriggers', text);
}

function messageOf(
  partId: string,
  place: { readonly robotId: string; readonly robotName: string; readonly partName: string },
  { trigger: one, targets, state }: Shown,
  lastFiredMs: number | undefined,
): MessageInitShape<typeof TriggerSchema> {
  return {
    ...{ partId, partName: place.partName, machineId: place.robotId, machineName: place.robotName },
    ...{ name: one.name, path: `triggers[${one.index}]`, state, eventType: one.eventType },
    problems: one.problems.map(problemMessage),
    ...(one.event && { event: one.event as JsonObject }),
    notifications: one.notifications.map((each, index) => notificationMessage(each, targets[index])),
    ...(lastFiredMs !== undefined && { lastFiredAt: timestampFromMs(lastFiredMs) }),
  };
}

function problemMessage({ level, path, message }: Problem) {
  return { severity: level, path, message };
}

function notificationMessage(
  { type, value, intervalMs, application = '', basicAuth }: Notification,
  target: DescribedTarget | undefined,
) {
  return {
    ...(target && targetFields(target)),
    channel: type,
    target: withoutSecrets(value),
    intervalSeconds: intervalMs / 1_000,
    application,
    hasBasicAuth: basicAuth !== undefined,
  };
}
