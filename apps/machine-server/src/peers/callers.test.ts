import { create } from '@bufbuild/protobuf';
import { PlatformError, silentLog, unauthenticated } from '@platform/base';
import { CallerAccess, DirectCallerSchema } from '@platform/proto/platform/relay/v1/relay';
import { resourceTypes } from '@platform/resources';
import type { Call, ChannelPeer } from '@platform/rpc/server';
import { FakeClock } from '@platform/testkit';
import type { AnsweredPeer } from '@platform/webrtc';
import { expect, test } from 'vitest';
import type { Principal } from '../serve/authenticate.ts';
import { Callers } from './callers.ts';

type Access = CallerAccess | 'unavailable';

/** @param access what the cloud says about each ticket */
function given(access: (ticket: string) => Access = () => CallerAccess.CONTROL) {
  const clock = new FakeClock();
  const served: ChannelPeer<Principal>[] = [];
  const asked: string[][] = [];
  const client = () => ({
    async checkCallers({ tickets }: { readonly tickets: readonly Uint8Array[] }) {
      const names = tickets.map((ticket) => Buffer.from(ticket).toString());
      asked.push(names);
      const found = names.map(access);
      if (found.includes('unavailable')) throw new PlatformError('unavailable', 'no network');
      return { access: found };
    },
  });
  const callers = new Callers({
    cloud: { link: { client: client as never }, partId: 'press' },
    server: {
      serve(channel, peer) {
        served.push(peer);
        return new Promise((resolve) => {
          if (channel.ended.aborted) resolve();
          else channel.ended.addEventListener('abort', () => resolve(), { once: true });
        });
      },
    },
    ...{ types: () => resourceTypes, clock, log: silentLog },
  });
  const connect = (name: string, most: CallerAccess = CallerAccess.CONTROL) => {
    const over = new AbortController();
    const channel = { ended: over.signal, close: () => over.abort() };
    const ticket = Buffer.from(name);
    const answered = {
      peer: {
        selectedPair: async () => ({ local: 'host', remote: 'host', remoteAddress: '10.0.0.7:1' }),
        [Symbol.asyncDispose]: async () => {},
      },
      channel,
      caller: create(DirectCallerSchema, { id: `person:${name}`, name, access: most, ticket }),
    } as unknown as AnsweredPeer;
    void callers.serve(answered);
    return { ended: over.signal, answered };
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await settle();
  };
  return { callers, served, asked, connect, settle, pass };
}

const call = (method: string): Call => ({ method }) as Call;
const setPower = call('/platform.component.motor.v1.MotorService/SetPower');
const getReadings = call('/platform.component.sensor.v1.SensorService/GetReadings');
const shutdown = call('/platform.robot.v1.RobotService/Shutdown');
const shell = call('/platform.service.shell.v1.ShellService/Shell');

test('D40 a caller is the person or key that the cloud has admitted, and may call what its role allows', async () => {
  const { connect, served, settle } = given();
  connect('ada');
  connect('eve', CallerAccess.MANAGE);
  await settle();
  const [ada, eve] = served;
  expect(ada?.address).toBe('10.0.0.7:1');
  expect((await ada?.authenticate(setPower))?.entity).toBe('cloud:person:ada');
  expect((await ada?.authenticate(getReadings))?.entity).toBe('cloud:person:ada');
  for (const one of [shutdown, shell]) {
    await expect(ada?.authenticate(one)).rejects.toMatchObject({ code: 'permission_denied' });
    expect((await eve?.authenticate(one))?.entity).toBe('cloud:person:eve');
  }
});

test('R16 the cloud is asked every 4 s: a caller who may no longer call is cut, and one with less may do less', async () => {
  const access = new Map<string, Access>([
    ['ada', CallerAccess.CONTROL],
    ['eve', CallerAccess.MANAGE],
  ]);
  const { connect, served, asked, pass } = given((ticket) => access.get(ticket) ?? CallerAccess.UNSPECIFIED);
  const ada = connect('ada');
  const eve = connect('eve', CallerAccess.MANAGE);
  await pass(4_000);
  expect(asked).toEqual([['ada', 'eve']]);
  access.set('ada', CallerAccess.UNSPECIFIED).set('eve', CallerAccess.CONTROL);
  await pass(4_000);
  expect([ada.ended.aborted, eve.ended.aborted]).toEqual([true, false]);
  await expect(served[1]?.authenticate(shutdown)).rejects.toMatchObject({ code: 'permission_denied' });
  // Nobody is asked about once nobody is connected.
  eve.answered.channel.close();
  await pass(4_000);
  const before = asked.length;
  await pass(8_000);
  expect(asked.length).toBe(before);
});

test('connections go on while the cloud cannot be asked, for 10 min', async () => {
  const { connect, pass } = given(() => 'unavailable');
  const ada = connect('ada');
  for (let second = 0; second < 596; second += 4) await pass(4_000);
  expect(ada.ended.aborted).toBe(false);
  await pass(8_000);
  expect(ada.ended.aborted).toBe(true);
});

test('a caller that found the machine by its own address is checked here', async () => {
  const { callers, connect, served, asked, settle, pass } = given();
  const { answered, ended } = connect('unused');
  answered.channel.close();
  await settle();
  let isValid = true;
  const over = new AbortController();
  const channel = { ...answered.channel, ended: over.signal, close: () => over.abort() };
  const local = {
    principal: { entity: 'key-1' },
    check: async () => {
      if (!isValid) throw unauthenticated('the key is gone');
    },
  };
  void callers.serve({ ...answered, channel, caller: undefined } as AnsweredPeer, local);
  await settle();
  expect((await served.at(-1)?.authenticate(shell))?.entity).toBe('key-1');
  await pass(4_000);
  expect([asked.flat(), over.signal.aborted, ended.aborted]).toEqual([[], false, true]);
  isValid = false;
  await pass(4_000);
  expect(over.signal.aborted).toBe(true);
});
