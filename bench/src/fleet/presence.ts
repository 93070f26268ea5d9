import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { openUnarySession, type UnarySession } from '../cloud/unary-session.ts';
import { mapConcurrently } from '../figures/map-concurrently.ts';
import type { Load } from './fleet.ts';
import { type FleetCloud, startFleetCloud } from './fleet-cloud.ts';
import { machineCalls, signIn } from './machine-calls.ts';
import { type FleetPart, provisionFleet } from './provision-fleet.ts';

const pauseMs = 90_000;
const lanes = 64;
const connections = 8;
const giveUpAfterMs = 180_000;

/**
 * Parts lose and regain contact, while the cloud is stopped for 90 s and is killed during recording. Measures how many transitions and
 * notifications are missing or superfluous (both must be 0). Takes about six minutes, whatever the number of parts.
 */
export async function measurePresence({ parts: count }: Load): Promise<Readonly<Record<string, number>>> {
  await using cloud = await startFleetCloud();
  const hook = (name: string, type: string) => ({
    name,
    event: { type },
    notifications: [{ type: 'webhook', value: `${cloud.running.url}/test-inbox/webhooks/${name}` }],
  });
  const parts = await provisionFleet(cloud, count, {
    triggers: [hook('on', 'part_online'), hook('off', 'part_offline')],
  });

  await allCall(cloud, parts);
  await until(cloud, 'online', (numbers) => countOf(numbers, 1) === count);

  // Stopped for longer than the window right after every part has called; no part may be recorded as missing.
  await allCall(cloud, parts);
  process.kill(cloud.running.process.pid, 'SIGSTOP');
  await sleep(pauseMs);
  process.kill(cloud.running.process.pid, 'SIGCONT');
  await sleep(30_000);
  const firedByPause = count - countOf(numbersOf(cloud), 1);

  const lostAt = performance.now();
  // Killed while it records offline parts; then each of the others has a full window again.
  await until(cloud, 'some offline', (numbers) => countOf(numbers, 2) > 0);
  await cloud.kill();
  const offlineWhenKilled = countOf(numbersOf(cloud), 2);
  await cloud.restart();
  await until(cloud, 'all offline', (numbers) => countOf(numbers, 2) === count);
  const offlineSeconds = (performance.now() - lostAt) / 1_000;

  // Killed while it records returning parts.
  const calling = allCall(cloud, parts).catch(() => {});
  await until(cloud, 'some back', (numbers) => countOf(numbers, 3) > 0);
  await cloud.kill();
  await calling;
  const onlineWhenKilled = countOf(numbersOf(cloud), 3);
  await cloud.restart();
  await allCall(cloud, parts);
  await until(cloud, 'all back', (numbers) => countOf(numbers, 3) === count);

  const { online, offline, wrongParts } = notified(cloud, parts);
  return {
    parts: count,
    transitions_by_a_pause: firedByPause,
    parts_with_wrong_transitions: count - countOf(numbersOf(cloud), 3),
    parts_with_wrong_notifications: wrongParts,
    online_notifications: online,
    offline_notifications: offline,
    offline_recorded_when_killed: offlineWhenKilled,
    online_recorded_when_killed: onlineWhenKilled,
    loss_to_all_offline_s: offlineSeconds,
  };
}

/** One call from each part, with its own credentials, over a few connections. */
async function allCall(cloud: FleetCloud, parts: readonly FleetPart[]): Promise<void> {
  using stack = new DisposableStack();
  const sessions: UnarySession[] = [];
  for (let index = 0; index < connections; index++) sessions.push(stack.use(await openUnarySession(cloud.running.url)));
  await mapConcurrently(lanes, parts.length, async (index) => {
    const part = parts[index];
    const session = sessions[index % connections];
    if (part === undefined || session === undefined) throw new Error('expected a part and a connection');
    await machineCalls(part).needsRestart(session, await signIn(session, part));
  });
}

/** The number of each part's last transition, as recorded by the cloud. */
function numbersOf(cloud: FleetCloud): readonly number[] {
  return rowsOf<{ number: number }>(cloud, 'select number from part_presence').map((row) => row.number);
}

function countOf(numbers: readonly number[], wanted: number): number {
  return numbers.filter((number) => number === wanted).length;
}

/** Each part must have two `part_online` and one `part_offline` in the outbox. */
function notified(
  cloud: FleetCloud,
  parts: readonly FleetPart[],
): { online: number; offline: number; wrongParts: number } {
  const rows = rowsOf<{ part_id: string; event_type: string; n: number }>(
    cloud,
    'select part_id, event_type, count(*) as n from outbox_messages group by part_id, event_type',
  );
  const counts = new Map(rows.map((row) => [`${row.part_id} ${row.event_type}`, row.n]));
  const of = (partId: string, type: string): number => counts.get(`${partId} ${type}`) ?? 0;
  const sum = (type: string): number => parts.reduce((total, { partId }) => total + of(partId, type), 0);
  const wrong = parts.filter(({ partId }) => of(partId, 'part_online') !== 2 || of(partId, 'part_offline') !== 1);
  return { online: sum('part_online'), offline: sum('part_offline'), wrongParts: wrong.length };
}

function rowsOf<Row>({ dataDirectory }: FleetCloud, sql: string): Row[] {
  const db = new DatabaseSync(join(dataDirectory, 'meta.sqlite'), { readOnly: true });
  try {
    return db.prepare(sql).all() as Row[];
  } finally {
    db.close();
  }
}

async function until(cloud: FleetCloud, what: string, holds: (numbers: readonly number[]) => boolean): Promise<void> {
  const before = performance.now();
  while (!holds(numbersOf(cloud))) {
    if (performance.now() - before > giveUpAfterMs) throw new Error(`not "${what}" within ${giveUpAfterMs} ms`);
    await sleep(5);
  }
}
