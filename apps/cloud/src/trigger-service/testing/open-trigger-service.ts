/** TriggerService with a real store, for tests. */
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { silentLog, systemClock } from '@platform/base';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { serve } from '@platform/rpc/server';
import type { Principal } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { transitionsOf } from '../../machines/presence/store.ts';
import { openMachines } from '../../machines/testing/open-machines.ts';
import type { Channels } from '../../outbox/channel.ts';
import { createOutbox } from '../../outbox/feature.ts';
import { type TriggerServiceDeps, triggerHandlers } from '../feature.ts';

export interface TriggerServiceOverrides extends Partial<Pick<TriggerServiceDeps, 'targetRefusal' | 'keptBecause'>> {
  /** Default: none, so that messages wait. */
  readonly channels?: Channels;
  readonly ownersOf?: () => Promise<readonly string[]>;
}

export async function openTriggerService({
  channels = {},
  ownersOf = async () => [],
  ...more
}: TriggerServiceOverrides = {}) {
  const given = await openMachines();
  const { db, access, tree, registry, machines, instanceKey } = given;
  const outbox = createOutbox({
    ...{ db, instanceKey, clock: systemClock, log: silentLog, channels, ownersOf },
    ...{ organizationExists: () => true, appendMachineLog: async () => {} },
  });
  const dryRun: TriggerServiceDeps['dryRun'] = {
    arrivals: async function* () {},
    logs: machines.logs,
    transitions: (partId, fromMs, untilMs) => transitionsOf(db, partId, fromMs, untilMs),
    monotonic: systemClock.monotonic,
  };
  const deps = {
    ...{ db, access, tree, registry, instanceKey, outbox, dryRun, clock: systemClock, configOf: machines.triggersOf },
    ...{ triggersIfSaved: machines.triggersIfSaved, placeOf: registry.findPlace },
    pushApplicationOf: async () => undefined,
    targetRefusal: async () => undefined,
    keptBecause: async () => undefined,
    zoneOf: async () => 'UTC',
    ...more,
  };
  const binding = serve<typeof TriggerService, Principal>(TriggerService, triggerHandlers(deps));
  const call = async <M extends DescMethodUnary>(
    principal: Principal,
    method: M,
    request: MessageInitShape<M['input']>,
  ): Promise<MessageShape<M['output']>> => {
    const bound = binding.methods.find((one) => one.method.name === method.name);
    if (bound?.kind !== 'unary') throw new Error(`expected ${method.name} to be bound`);
    const answer = await bound.handler(create(method.input, request), callOf(principal));
    return create(method.output, answer as never) as MessageShape<M['output']>;
  };
  const save = async (partId: string, config: object): Promise<void> => {
    const { part } = await given.ask(given.owner, AppService.method.getRobotPart, { id: partId });
    const request = { id: partId, name: part?.name ?? '', robotConfigJson: JSON.stringify(config) };
    await given.ask(given.owner, AppService.method.updateRobotPart, request);
  };
  return { ...given, outbox, call, save };
}

export const oven = { name: 'oven', api: 'core:component:sensor', model: 'fake' };
export const hot = {
  name: 'hot',
  event: {
    type: 'conditional_data_ingested',
    conditional: {
      data_capture_method: 'sensor:oven:Readings',
      conditions: { evals: [{ operator: 'gt', value: { temperature: 90 } }] },
    },
  },
  notifications: [
    {
      ...{ type: 'webhook', value: 'https://example.com/hook?token=t0ken-of-hook', seconds_between_notifications: 60 },
      auth: { basic: { username: 'ada', password: 'pw-1815' } },
    },
  ],
};
export const online = { name: 'online', event: { type: 'part_online' }, notifications: [{ ...hot.notifications[0] }] };
