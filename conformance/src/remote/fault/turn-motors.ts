/**
 * A program that drives motors of one machine over WebRTC until it is killed, each over one connection after another. It tells everything
 * before it does it, and what was acknowledged, as lines of JSON. Argument: a JSON TurnMotorsOptions.
 *
 * A connection begins a session, sets the power of its motor several times, and sends heartbeats for a second or two. Then it stops the
 * motor, or just leaves.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { silentLog, systemClock } from '@platform/base';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { createEngine } from '@platform/webrtc';
import { callDirectly } from '../../../../packages/webrtc/src/testing/call-directly.ts';
import { program } from '../../../../tools/bundles/program.ts';

export interface TurnMotorsOptions {
  readonly url: string;
  readonly keyId: string;
  readonly key: string;
  /** The full name of the part. */
  readonly host: string;
  readonly motors: readonly string[];
}

/** What it tells. */
export interface TurnMotorsLine {
  /** alive: the motor may turn from now on, for a window. call, done: SetPower is sent, was acknowledged. */
  readonly event: 'connected' | 'failed' | 'alive' | 'call' | 'done';
  readonly motor: string;
  /** Unix time, ms. */
  readonly atMs: number;
  readonly reason?: string;
}

const { url, keyId, key, host, motors } = JSON.parse(process.argv[2] ?? '') as TurnMotorsOptions;
const beatMs = 400;
/** Longer than a motor may turn on, so that it would be seen. */
const restMs = 5_000;
const engine = createEngine({ clock: systemClock, log: silentLog, program: pathToFileURL(program('webrtc-engine')) });
const cloud = connect({
  baseUrl: url,
  credentials: { entity: keyId, type: 'api-key', payload: key },
  timeoutMs: 10_000,
});
const tell = (event: TurnMotorsLine['event'], motor: string, more: object = {}): boolean =>
  process.stdout.write(`${JSON.stringify({ event, motor, atMs: Date.now(), ...more })}\n`);

/** @returns whether the motor was stopped */
async function turn(motor: string): Promise<boolean> {
  await using call = await callDirectly(cloud, engine, host);
  const robot = call.link.client(RobotService);
  const wheel = call.link.client(MotorService);
  const { id } = await robot.startSession({});
  tell('connected', motor);
  const headers = { 'viam-sid': id };
  const untilMs = Date.now() + 800 + Math.random() * 1_500;
  for (let count = 0; Date.now() < untilMs; count++) {
    tell('alive', motor);
    if (count % 2 === 0) {
      tell('call', motor);
      await wheel.setPower({ name: motor, powerPct: 0.5 }, { headers, timeoutMs: 3_000 });
      tell('done', motor);
    } else await robot.sendSessionHeartbeat({ id }, { timeoutMs: 3_000 });
    tell('alive', motor);
    await sleep(beatMs / 2);
  }
  if (Math.random() < 0.5) return false;
  await wheel.stop({ name: motor }, { headers, timeoutMs: 3_000 });
  return true;
}

async function turnAgainAndAgain(motor: string): Promise<never> {
  for (;;) {
    const isStopped = await turn(motor).catch((caught: unknown) => {
      tell('failed', motor, { reason: caught instanceof Error ? caught.message : String(caught) });
      return false;
    });
    if (!isStopped) await sleep(restMs);
  }
}

for (const motor of motors) void turnAgainAndAgain(motor);
