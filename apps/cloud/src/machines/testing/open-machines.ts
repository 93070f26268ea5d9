/** The machines feature after a first start, for tests: a real database; operations are called as from the API. */
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { type Clock, silentLog, systemClock } from '@platform/base';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { type Access, createAccess } from '../../access/authorize.ts';
import type { CloudCall, Grant, Principal, Role } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { type FirstAccount, openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import type { OnConfigurationChange } from '../configuration/configuration-change.ts';
import { triggersIn } from '../configuration/triggers-of.ts';
import { createMachines, type Machines, type MachinesDeps } from '../feature.ts';
import { intactRegistry } from '../intact-registry.ts';
import { machineAllowance } from '../logs/quota.ts';
import { createMachineNames } from '../machine-names.ts';
import { openRegistry, type Registry } from '../registry.ts';
import { withoutFragments } from './without-fragments.ts';

export interface TestMachines extends FirstAccount {
  readonly machines: Machines;
  readonly registry: Registry;
  readonly access: Access;
  /** A machine with one part, in the first location. */
  readonly machineId: string;
  readonly partId: string;
  readonly partSecret: string;
  /** The triggers passed on by each save. */
  readonly savedTriggers: (readonly unknown[])[];
  readonly onConfigurationChange: OnConfigurationChange;
  readonly owner: Principal;
  readonly itself: Principal;
  /** A key with one role, in the first organization unless `on` overrides it. */
  key(role: Role, on?: Partial<Grant>): Principal;
  laterMs(ms: number): void;
  /** The same installation after a restart of the process. */
  restarted(): Promise<Machines>;
  ask<M extends DescMethodUnary>(
    principal: Principal,
    method: M,
    request: MessageInitShape<M['input']>,
    metadata?: Readonly<Record<string, string>>,
    /** Default: `machines`. */
    of?: Machines,
  ): Promise<MessageShape<M['output']>>;
}

export async function openMachines(overrides: Partial<MachinesDeps> = {}): Promise<TestMachines> {
  const first = await openFirstAccount();
  const { db, tree, instanceKey, organizationId, locationId } = first;
  let shiftMs = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + shiftMs,
    monotonic: () => performance.now() + shiftMs,
  };
  const savedTriggers: (readonly unknown[])[] = [];
  const onConfigurationChange: OnConfigurationChange = async (_trx, changes) => {
    for (const { after } of changes) savedTriggers.push(triggersIn(after));
  };
  const open = async (registry: Registry): Promise<{ machines: Machines; access: Access }> => {
    const intact = intactRegistry(registry, registry.damage);
    const access = createAccess(tree, {
      locationOfMachine: (id) => intact.machine(id)?.location_id,
      machineOfPart: (id) => intact.part(id)?.machine_id,
    });
    const machines = await createMachines({
      db,
      tree,
      registry,
      access,
      instanceKey,
      servesTls: false,
      names: createMachineNames('machines.example', ['cloud.example']),
      clock,
      log: silentLog,
      triggerProblems: (document) =>
        triggersIn(document).includes('broken')
          ? [{ path: 'triggers[0]', level: 'error', message: 'expected an object' }]
          : [],
      targetProblems: async () => [],
      onConfigurationChange,
      partDeleting: async () => {},
      accessChanged: () => {},
      effective: withoutFragments,
      packages: { stampOf: () => '', resolved: async (config) => config, problemsOf: async () => [] },
      seesFragment: async () => true,
      firstDocument: () => undefined,
      logAllowanceOf: () => machineAllowance,
      onLogsSent: () => {},
      linkSinceMs: () => undefined,
      onTransitions: async () => ({ record: async () => {}, committed: () => {} }),
      ...overrides,
    });
    return { machines, access };
  };
  const registry = await openRegistry(db, tree, instanceKey);
  const { machines, access } = await open(registry);
  const { machineId, partId, partSecret } = await registry.register(locationId, 'press', 1);

  const key: TestMachines['key'] = (role, on = {}) => ({
    kind: 'key',
    keyId: 'k',
    keyName: 'the key',
    grants: [{ role, organizationId, locationId: null, robotId: null, ...on }],
  });
  return {
    ...first,
    machines,
    registry,
    access,
    machineId,
    partId,
    partSecret,
    savedTriggers,
    onConfigurationChange,
    owner: key('owner'),
    itself: { kind: 'part', partId },
    key,
    laterMs: (ms) => {
      shiftMs += ms;
    },
    restarted: async () => (await open(await openRegistry(db, tree, instanceKey))).machines,
    async ask<M extends DescMethodUnary>(
      principal: Principal,
      method: M,
      request: MessageInitShape<M['input']>,
      metadata: Readonly<Record<string, string>> = {},
      of = machines,
    ) {
      const answer = await handlerOf(of, method)(
        create(method.input, request),
        callOf(principal, { host: 'cloud.test', ...metadata }),
      );
      return create(method.output, answer) as MessageShape<M['output']>;
    },
  };
}

type Handler = (
  request: unknown,
  call: CloudCall,
) => Promise<MessageInitShape<DescMethodUnary['output']>> | MessageInitShape<DescMethodUnary['output']>;

function handlerOf(machines: Machines, method: DescMethodUnary): Handler {
  const found =
    method.parent.typeName === RobotService.typeName
      ? machines.robotBinding.methods.find((one) => !one.raw && one.method.name === method.name)?.handler
      : method.parent.typeName === FleetService.typeName
        ? machines.fleetHandlers[method.localName as keyof typeof machines.fleetHandlers]
        : machines.appHandlers[method.localName as keyof typeof machines.appHandlers];
  if (found === undefined) throw new Error(`${method.parent.typeName}.${method.name} has no handler`);
  return found as unknown as Handler;
}

export const app: typeof AppService.method = AppService.method;
export const fleet: typeof FleetService.method = FleetService.method;
export const robot: typeof RobotService.method = RobotService.method;
