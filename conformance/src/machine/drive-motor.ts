/** A client process that starts a session, runs the motor `it`, and sends heartbeats until it is killed. Argument: `host:port`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Peer } from '../clients/grpc-peer.ts';

const robot = 'platform.robot.v1.RobotService';
const peer = new Peer(process.argv[2] ?? '');
const { id, heartbeat_window: window } = await peer.call(robot, 'StartSession', {});
const { seconds, nanos } = window as { seconds: number; nanos: number };
const windowMs = seconds * 1_000 + nanos / 1e6;
const print = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);
await peer.call(
  'platform.component.motor.v1.MotorService',
  'SetPower',
  { name: 'it', power_pct: 1 },
  { 'viam-sid': String(id) },
);
print({ driving: true, windowMs });
for (let beats = 1; ; beats++) {
  await sleep(windowMs / 5);
  await peer.call(robot, 'SendSessionHeartbeat', { id });
  print({ beats });
}
