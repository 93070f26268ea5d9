import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { silentLog, systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { answersTo, eachName, recordsOf } from './announcement.ts';
import { readQuery, recordTypes } from './dns-message.ts';
import { announce } from './feature.ts';
import { startResponder } from './responder.ts';

const machineName = 'part.loc.machines.local';
const announcement = { hostName: 'press', machineNames: [machineName], port: 8_080 };

/** A resolver that asks only the responder. */
async function start(): Promise<{ resolver: Resolver; port: number }> {
  const deps = { announcement, clock: systemClock, log: silentLog, addresses: () => ['127.0.0.1'] };
  const responder = startResponder({ ...deps, port: 0 });
  onTestFinished(() => responder[Symbol.asyncDispose]());
  const port = await responder.port;
  const resolver = new Resolver({ timeout: 20_000, tries: 3 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return { resolver, port };
}

test('a resolver finds the machine by the service type, by both forms of its name, and by its host names', async () => {
  const { resolver } = await start();
  const instances = [`${machineName}._rpc._tcp.local`, 'part-loc-machines-local._rpc._tcp.local'];
  expect((await resolver.resolvePtr('_rpc._tcp.local')).toSorted()).toEqual(instances.toSorted());
  for (const instance of instances) {
    expect(await resolver.resolveSrv(instance)).toMatchObject([{ name: 'press.local', port: 8_080 }]);
    expect(await resolver.resolveTxt(instance)).toEqual([['grpc']]);
  }
  expect(await resolver.resolve4('press.local')).toEqual(['127.0.0.1']);
  expect(await resolver.resolve4('PART.loc.machines.LOCAL')).toEqual(['127.0.0.1']);
});

test('it announces itself to its network, answers there, and says goodbye', async () => {
  // Another member of the group, on the same port as all members.
  const listener = createSocket({ type: 'udp4', reuseAddr: true });
  onTestFinished(() => void listener.close());
  const heard: { answers: number; ttl: number }[] = [];
  const wakes: (() => void)[] = [];
  const hears = async (ttl: number, answers: number, times = 1): Promise<void> => {
    while (heard.filter((each) => each.ttl === ttl && each.answers === answers).length < times)
      await new Promise<void>((resolve) => wakes.push(resolve));
  };
  listener.on('message', (message) => {
    // It also receives its own question.
    if (message.readUInt16BE(6) === 0) return;
    // The time to live of the first record follows its name, type and class.
    const name = message.indexOf(0, 12);
    heard.push({ answers: message.readUInt16BE(6), ttl: message.readUInt32BE(name + 5) });
    for (const wake of wakes.splice(0)) wake();
  });
  await new Promise<void>((resolve) => listener.bind(0, resolve));
  listener.addMembership('224.0.0.251', '127.0.0.1');
  const { port } = listener.address();
  const deps = { announcement, clock: systemClock, log: silentLog, addresses: () => ['127.0.0.1'], port };
  const responder = startResponder(deps);
  await hears(120, 8);
  const labels = ['_rpc', '_tcp', 'local'].flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  const query = Buffer.concat([
    Buffer.from('000000000001000000000000', 'hex'),
    ...labels,
    Buffer.from('00000c0001', 'hex'),
  ]);
  listener.setMulticastInterface('127.0.0.1');
  // Each of several clients that ask within a second gets its answer.
  for (let asked = 0; asked < 3; asked++) listener.send(query, port, '224.0.0.251');
  await hears(120, 2, 3);
  await responder[Symbol.asyncDispose]();
  await hears(0, 8);
});

test('questions about others, answers and invalid messages get no answer', async () => {
  const { resolver, port } = await start();
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  const received: string[] = [];
  socket.on('message', (message) => received.push(message.toString('latin1')));
  const send = (message: Buffer): Promise<void> =>
    new Promise((resolve, reject) =>
      socket.send(message, port, '127.0.0.1', (error) => (error ? reject(error) : resolve())),
    );
  const question = (name: string): Buffer => {
    const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
    return Buffer.concat([Buffer.from('000100000001000000000000', 'hex'), ...labels, Buffer.from('00000c0001', 'hex')]);
  };
  await send(question('_http._tcp.local'));
  const known = question('_rpc._tcp.local');
  await send(Buffer.concat([Buffer.from('00018400', 'hex'), known.subarray(4)]));
  for (let length = 0; length < known.length; length++) await send(known.subarray(0, length));
  // A name that points to itself.
  await send(Buffer.from('000100000001000000000000c00c000c0001', 'hex'));
  await send(Buffer.from('0001000000ff000000000000', 'hex'));
  // All of these came before this question, which is answered.
  expect(await resolver.resolve4('press.local')).toEqual(['127.0.0.1']);
  expect(received).toEqual([]);
});

test('an answer to the service type has all records that a client asks for next', () => {
  const records = recordsOf(announcement, ['10.0.0.5']);
  const { answers, additional } = answersTo([{ name: '_rpc._tcp.local', type: recordTypes.ptr }], records);
  // The Rust library below the Python SDK compares only the first, with dashes.
  expect(answers).toMatchObject([
    { type: 'ptr', target: 'part-loc-machines-local._rpc._tcp.local' },
    { type: 'ptr', target: `${machineName}._rpc._tcp.local` },
  ]);
  expect(additional.map(({ type }) => type).toSorted()).toEqual(['a', 'a', 'srv', 'srv', 'txt', 'txt']);
  expect(answersTo([{ name: 'press.local', type: recordTypes.any }], records).answers).toMatchObject([
    { address: '10.0.0.5' },
  ]);
  expect(readQuery(Buffer.from('00'.repeat(11), 'hex'))).toBeUndefined();
  // Without a cloud, the machine has the name of its computer.
  const [first] = recordsOf({ ...announcement, machineNames: [] }, []);
  expect(first).toMatchObject({ target: 'press._rpc._tcp.local' });
});

test('a machine with several names has a separate announcement for each, because clients read only the first instance of an answer', () => {
  const names = ['part.machines.example', 'part.local'];
  const each = eachName({ ...announcement, machineNames: names });
  expect(each.map(({ machineNames }) => machineNames)).toEqual([['part.machines.example'], ['part.local']]);
  const addresses = recordsOf({ ...announcement, machineNames: names }, ['10.0.0.5']).filter(
    ({ type }) => type === 'a',
  );
  expect(addresses.map(({ name }) => name)).toEqual(['press.local', 'part.local']);
  expect(eachName({ ...announcement, machineNames: [] })).toMatchObject([{ machineNames: ['press'] }]);
});

test('a server that only this computer reaches is not announced, nor one with -disable-mdns', async () => {
  const deps = {
    isDisabled: false,
    isPublic: false,
    machineNames: [machineName],
    port: 8_080,
    clock: systemClock,
    log: silentLog,
  };
  expect(await announce(deps)).toBeUndefined();
  expect(await announce({ ...deps, isDisabled: true, isPublic: true })).toBeUndefined();
});
