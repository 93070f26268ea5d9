/** R21 for every method of every service of machines, with real roles and a machine that records its calls. */
import { create, type DescMethod, fromBinary } from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';
import { PlatformError, silentLog } from '@platform/base';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { accessOf, isOfModule } from '@platform/resources';
import type { ForwardCalls } from '@platform/rpc/server';
import { expect, test } from 'vitest';
import { auditEntries } from '../../access/audit-entries.ts';
import type { Grant, Principal } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { type Fleet, on, openFleet } from '../../access/testing/open-fleet.ts';
import { createCallLimit } from '../call-limit.ts';
import { createPassedBytes } from '../count-passed.ts';
import { opaqueService } from '../forward/opaque-service.ts';
import type { RelayedCallDeps } from '../forward/relayed-call.ts';
import { relayedBindings, relayedServices } from '../forward/relayed-services.ts';
import { forwardTypes } from '../forward/relayed-types.ts';
import type { PartLink } from '../links.ts';
import { createActuationRecord } from '../record-actuation.ts';
import { byHeader } from '../testing/by-header.ts';

interface Machine {
  readonly fleet: Fleet;
  readonly forwardCalls: ForwardCalls<Principal>;
  /** Methods that reached the machine, with the headers of the last. */
  readonly called: string[];
  headers: Headers;
  /** The message of the last refusal. */
  refusal: string;
  /** What the machine does with a call. */
  act: (signal: AbortSignal) => Promise<void>;
  /** The identity of a call when it is checked again. */
  current: Principal | undefined;
  /** Returns `ok` or the code of the error. */
  ask(method: DescMethod, principal: Principal, headers?: Readonly<Record<string, string>>): Promise<string>;
}

type Asked = { readonly signal: AbortSignal; readonly headers: Headers };

async function openMachine(): Promise<Machine> {
  const fleet = await openFleet();
  const { db, clock, access } = fleet;
  const streams = ['server_streaming', 'bidi_streaming'];
  const client = ({ methods }: { methods: readonly DescMethod[] }): object =>
    Object.fromEntries(
      methods.map(({ name, localName, methodKind }) => {
        const take = async (input: object, { headers, signal }: Asked): Promise<object> => {
          if (Symbol.asyncIterator in input) for await (const _ of input as AsyncIterable<unknown>);
          machine.called.push(name);
          machine.headers = headers;
          await machine.act(signal);
          return {};
        };
        async function* stream(input: object, asked: Asked) {
          yield await take(input, asked);
        }
        return [localName, streams.includes(methodKind) ? stream : take];
      }),
    );
  const link = { link: { client }, ended: new AbortController().signal, bytes: () => 0 } as unknown as PartLink;
  const calls: RelayedCallDeps = {
    links: { of: () => link, lostMs: () => undefined, open: () => link },
    ...{ access, clock, limit: createCallLimit(), passed: createPassedBytes(() => {}) },
    actuations: createActuationRecord({ db, clock, log: silentLog }),
    recheck: async ({ principal }) => {
      if (machine.current === undefined) throw new PlatformError('unauthenticated', 'the key has ended');
      return machine.current ?? principal;
    },
    ...byHeader,
    presence: { of: () => ({}) as never },
    reports: () => true,
  };
  const ofModules = forwardTypes(calls, (binding) => binding);
  const bindings = relayedBindings(calls);
  const machine: Machine = {
    ...{ fleet, forwardCalls: ofModules, called: [], headers: new Headers(), act: async () => {}, current: undefined },
    refusal: '',
    async ask(method, principal, headers = { 'platform-part': 'press-main' }) {
      const known = bindings.flatMap(({ methods }) => methods).find((one) => one.method === method);
      const bound = known ?? ofModules.bind(`/${method.parent.typeName}/${method.name}`, 'bidi_streaming')?.methods[0];
      if (bound === undefined) throw new Error(`${method.name} is not served`);
      const handler = bound.handler as unknown as (input: unknown, call: unknown) => unknown;
      // The name of the resource, for messages that the cloud does not know.
      const request = known ? create(method.input) : fromBinary(EmptySchema, new TextEncoder().encode('\n\u0003top'));
      async function* requests() {
        yield request;
      }
      const input = method.methodKind === 'unary' || method.methodKind === 'server_streaming' ? request : requests();
      try {
        const answer = handler(input, callOf(principal, headers));
        if (streams.includes(method.methodKind)) for await (const _ of answer as AsyncIterable<unknown>);
        else await answer;
        return 'ok';
      } catch (caught) {
        if (!(caught instanceof PlatformError)) return String(caught);
        machine.refusal = caught.message;
        return caught.code;
      }
    },
  };
  return machine;
}

const ofModule = (path: string): readonly DescMethod[] => opaqueService(path, 'bidi_streaming')?.methods ?? [];
const methods = [
  ...relayedServices.flatMap(({ service }) => service.methods),
  ...['Spin', 'GetLevel', 'DoCommand', 'GetStatus'].flatMap((name) =>
    ofModule(`/acme.widget.v1.WidgetService/${name}`),
  ),
  ...ofModule('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'),
  ...ofModule('/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo'),
];

const makesKey = (role: string): string =>
  `an owner makes one that does: platform api-keys create NAME --role ${role} --machine MACHINE`;

test('R21 operators read and move, owners manage, parts and strangers reach nothing, for any method', async () => {
  const machine = await openMachine();
  const principalWith = async (...grants: Grant[]): Promise<Principal> =>
    machine.fleet.principalOf((await machine.fleet.keyWith(...grants)).token);
  const owner = await principalWith(on.machine('owner', 'press'));
  const operator = await principalWith(on.location('operator', 'plant'));
  const elsewhere = await principalWith(on.machine('owner', 'mill'));
  const stranger = await principalWith(on.organization('owner', 'umbrella'));
  const itself: Principal = { kind: 'part', partId: 'press-main' };
  const other: Principal = { kind: 'part', partId: 'mill-main' };
  for (const method of methods) {
    const at = `${method.parent.typeName}.${method.name}`;
    const manages = accessOf(method) === 'manage';
    expect([at, await machine.ask(method, owner)]).toEqual([at, 'ok']);
    expect([at, await machine.ask(method, operator)]).toEqual([at, manages ? 'permission_denied' : 'ok']);
    if (manages)
      expect(machine.refusal).toContain(`The role of this API key is too small for the machine; ${makesKey('owner')}`);
    expect([at, await machine.ask(method, itself)]).toEqual([at, 'permission_denied']);
    const reached = machine.called.length;
    for (const principal of [elsewhere, stranger, other])
      expect([at, await machine.ask(method, principal)]).toEqual([at, 'not_found']);
    await machine.ask(method, elsewhere);
    expect(machine.refusal).toContain(
      `This API key does not reach the machine; ${makesKey(manages ? 'owner' : 'operator')}`,
    );
    expect([at, await machine.ask(method, owner, {})]).toEqual([at, 'invalid_argument']);
    expect(machine.called).toHaveLength(reached);
  }
  const entries = await auditEntries(machine.fleet.db, {
    organizationId: 'acme',
    targetId: 'press-main',
    limit: 1_000,
  });
  const audited = new Set(entries.map(({ action }) => action));
  for (const method of methods) {
    const of = isOfModule(method.parent) ? method.parent.typeName : method.parent.name;
    const operation = `${of}.${method.name}`;
    expect([operation, audited.has(operation)]).toEqual([operation, accessOf(method) !== 'read']);
  }
  const spins = entries.filter(({ action }) => action === 'acme.widget.v1.WidgetService.Spin');
  // One by the owner and one by the operator.
  expect(spins.map(({ detail }) => JSON.parse(detail).resource)).toEqual(['top', 'top']);
});

test('R21 only types of modules and the reflection of the machine can be called without being known to the cloud', async () => {
  const { forwardCalls } = await openMachine();
  for (const path of [
    ...[
      '/platform.app.v1.AppService/DeleteRobot',
      '/platform.robot.v1.RobotService/Newer',
      '/proto.rpc.v1.AuthService/X',
    ],
    ...[
      '/platform.service.newer.v1.NewerService/Run',
      '/grpc.health.v1.Health/Check',
      '/google.X/Y',
      '/none',
      '/a.B/c/d',
    ],
  ])
    expect([path, forwardCalls.bind(path, 'bidi_streaming')]).toEqual([path, undefined]);
  for (const kind of ['unary', 'server_streaming', 'bidi_streaming'] as const)
    expect(forwardCalls.bind('/acme.v1.Any/Thing', kind)?.methods).toMatchObject([
      { kind, path: '/acme.v1.Any/Thing' },
    ]);
});

test('R21 the machine learns the caller only from the cloud, and nothing about the connection to the cloud', async () => {
  const machine = await openMachine();
  const { token, id } = await machine.fleet.keyWith(on.machine('operator', 'press'));
  const principal = await machine.fleet.principalOf(token);
  await machine.ask(MotorService.method.stop, principal, {
    ...{ 'platform-part': 'press-main', 'platform-caller': 'person:forged', 'platform-access': 'read' },
    ...{ authorization: 'Bearer secret', cookie: 'session=1', 'viam-sid': 'session', 'grpc-timeout': '1S' },
    ...{
      'proxy-authorization': 'Basic x',
      'x-real-ip': '10.0.0.1',
      'cf-connecting-ip': '10.0.0.1',
      'x-auth-token': 'x',
    },
    ...{ 'x-api-key': 'x', via: '1.1 proxy', opid: 'operation', 'viam-metadata-run': '7' },
  });
  expect(Object.fromEntries(machine.headers)).toEqual({
    'platform-caller': `api-key:${id}`,
    ...{ 'platform-caller-name': 'test%20key', 'platform-access': 'control' },
    ...{ 'viam-sid': 'session', opid: 'operation', 'viam-metadata-run': '7' },
  });
});

test("the machine learns which resource of a module the audit trail names: field 1, or the caller's header", async () => {
  const machine = await openMachine();
  const { token } = await machine.fleet.keyWith(on.machine('operator', 'press'));
  const principal = await machine.fleet.principalOf(token);
  const [spin] = ofModule('/acme.widget.v1.WidgetService/Spin') as [DescMethod];
  const part = { 'platform-part': 'press-main' };
  const told = async (method: DescMethod, headers: Readonly<Record<string, string>>): Promise<string | null> => {
    expect(await machine.ask(method, principal, headers)).toBe('ok');
    return machine.headers.get('platform-resource');
  };
  expect(await told(spin, part)).toBe('top');
  expect(await told(spin, { ...part, 'platform-resource': 'Motor%20%C3%BC' })).toBe('Motor%20%C3%BC');
  // For types that the cloud knows, it reads the name itself.
  expect(await told(MotorService.method.stop, { ...part, 'platform-resource': 'other' })).toBeNull();
  for (const wrong of ['%', '%00', 'x'.repeat(256)])
    expect(await machine.ask(spin, principal, { ...part, 'platform-resource': wrong })).toBe('invalid_argument');
  const entries = await auditEntries(machine.fleet.db, {
    ...{ organizationId: 'acme', targetId: 'press-main', limit: 10 },
  });
  const spins = entries.filter(({ action }) => action === 'acme.widget.v1.WidgetService.Spin');
  expect(new Set(spins.map(({ detail }) => JSON.parse(detail).resource))).toEqual(new Set(['Motor ü', 'top']));
});

test('R16 a call in progress ends within 5 s when the right to it ends', async () => {
  const machine = await openMachine();
  const started = Promise.withResolvers<void>();
  machine.act = (signal) => {
    started.resolve();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const principal = await machine.fleet.principalOf(
    (await machine.fleet.keyWith(on.machine('operator', 'press'))).token,
  );
  machine.current = principal;
  const running = machine.ask(MotorService.method.goFor, principal);
  await started.promise;
  await machine.fleet.clock.advance(4_000);
  machine.current = undefined;
  await machine.fleet.clock.advance(4_000);
  expect(await running).toBe('unauthenticated');
});
