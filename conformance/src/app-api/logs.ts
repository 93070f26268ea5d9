import { once } from 'node:events';

import { expect, test } from 'vitest';
import type { Peer } from '../clients/grpc-peer.ts';
import type { Listed } from './package-types.ts';
import { appService } from './watch.ts';
import { Code, expectRefused, type World } from './world.ts';

type Queue = Listed[];

/** Each line is a second later than the previous one. */
const firstSeconds = Math.floor(Date.now() / 1_000) - 600;

export function logTests(world: () => World): void {
  /** A separate part, and a function that sends its lines. */
  const newPart = async (name: string): Promise<{ id: string; machineId: string; machine: Peer }> => {
    const { owner, cloud, part } = world();
    const machineId = await owner.app.newRobot(cloud.locationId, name);
    const [main] = await owner.app.getRobotParts(machineId);
    return { id: main?.id ?? '', machineId, machine: await part(main?.id ?? '', main?.secret ?? '') };
  };
  const send = (machine: Peer, id: string, lines: readonly object[]): Promise<unknown> =>
    machine.call('platform.app.v1.RobotService', 'Log', {
      id,
      logs: lines.map((line, index) => ({
        host: 'press',
        level: 'info',
        logger_name: 'rdk.press',
        time: { seconds: firstSeconds + index, nanos: 123_456_789 },
        ...line,
      })),
    });

  test('a line is returned complete, newest first, and is found by level, text and expression', async () => {
    const { app } = world().owner;
    const { id, machine } = await newPart('logs');
    await send(machine, id, [
      { message: 'started', level: 'debug' },
      { message: 'too hot: 97 °C', level: 'warn', logger_name: 'rdk.press.oven' },
      {
        message: '<b>failed</b>',
        level: 'error',
        caller: { fields: { File: { stringValue: 'press.go' }, Line: { numberValue: 12 } } },
        stack: 'at press.go:12',
        fields: [{ fields: { pressure: { numberValue: 2.5 } } }],
      },
    ]);
    const { logs, nextPageToken } = await app.getRobotPartLogs(id);
    // Every page with lines has a token: the public command line drops one without.
    expect(await app.getRobotPartLogs(id, undefined, [], nextPageToken)).toMatchObject({ logs: [], nextPageToken: '' });
    expect(logs.map((one: Listed) => one.message)).toEqual(['<b>failed</b>', 'too hot: 97 °C', 'started']);
    expect(logs[0]).toMatchObject({
      host: 'press',
      level: 'error',
      loggerName: 'rdk.press',
      stack: 'at press.go:12',
      time: { seconds: BigInt(firstSeconds + 2), nanos: 123_456_789 },
    });
    expect(logs[0]?.caller?.toJson()).toEqual({ File: 'press.go', Line: 12 });
    expect(logs[0]?.fields.map((one: Listed) => one.toJson())).toEqual([{ pressure: 2.5 }]);

    const messages = async (filter?: string, levels?: string[]): Promise<string[]> =>
      (await app.getRobotPartLogs(id, filter, levels)).logs.map((one: Listed) => one.message);
    expect(await messages('HOT')).toEqual(['too hot: 97 °C']);
    expect(await messages('/hot: \\d+/')).toEqual(['too hot: 97 °C']);
    expect(await messages(undefined, ['warn', 'debug'])).toEqual(['too hot: 97 °C', 'started']);
    expect(await messages('nothing like it')).toEqual([]);
    await expectRefused(app.getRobotPartLogs(id, '/(/'), Code.invalidArgument, /filter/);
  });

  test('pages by token contain every line once; time, range, order, source, limit and user-facing lines can be requested', async () => {
    const { owner } = world();
    const { id, machine } = await newPart('pages');
    await send(
      machine,
      id,
      Array.from({ length: 250 }, (_, index) => ({
        message: `line ${index}`,
        logger_name: index % 2 === 0 ? 'rdk.even' : 'rdk.odd.sub',
        ...(index === 7 && { fields: [{ fields: { user_facing: { boolValue: true } } }] }),
      })),
    );
    const seen: string[] = [];
    let token = '';
    do {
      const page = await owner.app.getRobotPartLogs(id, undefined, [], token);
      expect(page.logs.length).toBeLessThanOrEqual(100);
      seen.push(...page.logs.map((one: Listed) => one.message));
      token = page.nextPageToken;
    } while (token !== '');
    expect(seen).toEqual(Array.from({ length: 250 }, (_, index) => `line ${249 - index}`));

    const asked = async (request: object): Promise<string[]> => {
      const { logs } = await owner.ask('GetRobotPartLogs', { id, ...request });
      return (logs as { message: string }[]).map(({ message }) => message);
    };
    const between = { start: { seconds: firstSeconds + 10 }, end: { seconds: firstSeconds + 13 } };
    expect(await asked(between)).toEqual(['line 12', 'line 11', 'line 10']);
    expect(await asked({ limit: 2 })).toEqual(['line 249', 'line 248']);
    expect(await asked({ source: 'rdk.odd', limit: 1 })).toEqual(['line 249']);
    expect(await asked({ source: 'rdk.even', limit: 1 })).toEqual(['line 248']);
    expect(await asked({ user_facing_only: true })).toEqual(['line 7']);
    expect(await asked({ errors_only: true })).toEqual([]);
    expect(await asked({ order: 'LOG_ORDER_ASCENDING', limit: 2 })).toEqual(['line 0', 'line 1']);
    const start = { seconds: firstSeconds };
    expect(await asked({ start, range: '1m', limit: 1 })).toEqual(['line 59']);
    expect(await asked({ start, range: '1m', order: 'LOG_ORDER_ASCENDING', limit: 1 })).toEqual(['line 0']);
    await expectRefused(owner.app.getRobotPartLogs(id, '', [], '<token>'), Code.invalidArgument, /page token/);
  });

  test('a live tail of the package gets each new line, filtered, until the part is deleted', async () => {
    const { owner, watch } = world();
    const { id, machineId, machine } = await newPart('tailed');
    await send(machine, id, [{ message: 'before the tail' }]);
    const all: Queue = [];
    const errors: Queue = [];
    const presses: Queue = [];
    const tails = [
      owner.app.tailRobotPartLogs(id, all, undefined, false),
      owner.app.tailRobotPartLogs(id, errors),
      owner.app.tailRobotPartLogs(id, presses, '/ press$/', false),
    ];
    const ends = tails.map((tail) => expectRefused(tail, Code.notFound, /part/));
    // A tail begins only when the cloud has received its request, so lines are sent until one arrives.
    while (all.length === 0 || errors.length === 0 || presses.length === 0) {
      await send(machine, id, [{ message: 'a press', level: 'error' }]);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await send(machine, id, [
      { message: 'quiet', level: 'info' },
      { message: 'last press', level: 'fatal', stack: 's' },
    ]);
    const lastOf = (queue: Queue): string | undefined => queue.at(-1)?.message;
    while (![all, errors, presses].every((queue) => lastOf(queue) === 'last press'))
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(all.map((one) => one.message)).not.toContain('before the tail');
    expect(all.at(-2)).toMatchObject({ message: 'quiet', level: 'info', host: 'press', loggerName: 'rdk.press' });
    expect(errors.map((one) => one.message)).not.toContain('quiet');
    expect(presses.map((one) => one.message)).not.toContain('quiet');
    watch.sawLines('TailRobotPartLogs', 'sdk', all);
    await owner.app.deleteRobot(machineId);
    await Promise.all(ends);
  });

  test('a live tail is a stream of messages with lists of lines, as other public clients read it', async () => {
    const { owner, watch } = world();
    const { id, machine } = await newPart('streamed');
    const stream = owner.peer.stream(appService, 'TailRobotPartLogs', { id, errors_only: false });
    const closed = once(stream, 'error');
    const data = once(stream, 'data');
    const sending = setInterval(() => void send(machine, id, [{ message: 'one' }, { message: 'two' }]), 50);
    const [{ logs }] = await data.finally(() => clearInterval(sending));
    expect(logs).toMatchObject([{ message: 'one', level: 'info' }, { message: 'two' }]);
    watch.ended('grpc-js', 'TailRobotPartLogs', 0);
    stream.cancel();
    expect(await closed).toMatchObject([{ code: 1 }]);
  });
}
